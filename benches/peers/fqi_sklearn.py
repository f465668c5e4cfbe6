"""Fitted Q iteration as it is often written: scikit-learn's linear regression, fitted anew in every iteration."""

import numpy as np
from sklearn.linear_model import LinearRegression

from fqi_numpy import DISCOUNT, monomials


class Loop:
    """Features are made once, which is kinder than what people do."""

    def __init__(self, tuples, degree):
        people, horizon = tuples.actions.shape
        phi = monomials(tuples.views(), degree, tuples.levels_count)
        self.d, self.actions = phi.shape[1], tuples.actions_count
        rows = np.arange(people * (horizon + 1)).reshape(people, horizon + 1)
        self.next = phi[rows[:, 1:].ravel()]
        self.rewards = tuples.rewards.ravel()
        a = tuples.actions.ravel()
        self.of = [np.flatnonzero(a == k) for k in range(self.actions)]
        now = rows[:, :-1].ravel()
        self.own = [phi[now[i]] for i in self.of]

    def run(self, iterations):
        models = None
        for _ in range(iterations):
            target = self.rewards
            if models:
                target = target + DISCOUNT * np.max([m.predict(self.next) for m in models], axis=0)
            models = [LinearRegression(fit_intercept=False).fit(x, target[i]) for x, i in zip(self.own, self.of)]
        return np.stack([m.coef_ for m in models])
