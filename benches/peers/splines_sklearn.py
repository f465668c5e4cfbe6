"""A spline regression as one would put it together from scikit-learn's parts.

Cubic B-splines of each coordinate with 12 knots at quantiles, straight beyond them, beside the indicators of action and level as in
the library; ridge regression with one of 17 penalties, by 5-fold cross-validation over people. Its penalty is the sum of squared
coefficients, not ∫ f″², and one for all outputs: the same job, another answer.
"""

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.preprocessing import SplineTransformer


def fit(data):
    people, horizon = data.actions.shape
    states = data.states[:, :-1].reshape(people * horizon, -1)
    transformer = SplineTransformer(n_knots=12, degree=3, knots="quantile", extrapolation="linear", include_bias=False)
    functions = np.column_stack([np.ones(len(states)), transformer.fit_transform(states)])
    a = data.actions.ravel() == 1
    z = np.repeat(data.levels, horizon) == 1
    x = np.concatenate([functions, functions * a[:, None], functions * z[:, None], (a & z)[:, None]], axis=1)
    y = np.column_stack([data.states[:, 1:].reshape(len(states), -1), data.rewards.ravel()])
    search = GridSearchCV(Ridge(), dict(alpha=10.0 ** np.arange(-5, 3.5, 0.5)), cv=GroupKFold(5), scoring="neg_mean_squared_error")
    search.fit(x, y, groups=np.repeat(np.arange(people), horizon))
    return search.predict(x)
