"""Fitted Q iteration by least squares in NumPy, the ways an expert would write it.

All of them factor each action's Gram matrix once and spend an iteration on targets and moments. They differ in layout, and the
comparison takes the fastest at each size.
"""

import numpy as np
from scipy.linalg import cho_factor, lapack

DISCOUNT = 0.9


def monomials(states, degree, levels):
    """All monomials up to a total degree, then those up to one degree less beside the indicator of each level after the first.

    The order is that of the library, so that weights can be compared.
    """
    p = states.shape[1] - (levels > 1)
    columns, last, starts = [np.ones(len(states))], [(0, 0)], [0, 1]
    for _ in range(degree):
        this = []
        for parent, first in last:
            for c in range(first, p):
                this.append((len(columns), c))
                columns.append(columns[parent] * states[:, c])
        last = this
        starts.append(len(columns))
    lower = columns[: starts[-2]]
    for k in range(1, levels):
        columns += [column * (states[:, -1] == k) for column in lower]
    return np.ascontiguousarray(np.stack(columns, axis=1))


class Problem:
    """Features of every state and the factored regressions; what no iteration has to do again."""

    def __init__(self, tuples, degree):
        self.actions = tuples.actions_count
        people, horizon = tuples.actions.shape
        self.phi = monomials(tuples.views(), degree, tuples.levels_count)
        self.d = self.phi.shape[1]
        rows = np.arange(people * (horizon + 1)).reshape(people, horizon + 1)
        self.now, self.next = rows[:, :-1].ravel(), rows[:, 1:].ravel()
        self.a, self.r = tuples.actions.ravel(), tuples.rewards.ravel()
        self.of = [np.flatnonzero(self.a == a) for a in range(self.actions)]
        self.own = [self.phi[self.now[i]] for i in self.of]
        self.factors = [cho_factor(x.T @ x, lower=True)[0] for x in self.own]

    def solve(self, moments):
        return np.stack([lapack.dpotrs(c, m, lower=1)[0] for c, m in zip(self.factors, moments)])


class Stored(Problem):
    """Features of next states and of each action's states, each stored once more, contiguous."""

    def __init__(self, tuples, degree):
        super().__init__(tuples, degree)
        self.order = np.concatenate(self.of)
        self.after = self.phi[self.next[self.order]]
        self.rewards = self.r[self.order]
        self.cuts = np.cumsum([len(i) for i in self.of])[:-1]
        del self.phi

    def iterate(self, weights):
        target = self.values(weights)
        target *= DISCOUNT
        target += self.rewards
        return self.solve([y @ x for y, x in zip(np.split(target, self.cuts), self.own)])


class Vectors(Stored):
    """One matrix-vector product an action."""

    def values(self, weights):
        best = self.after @ weights[0]
        for w in weights[1:]:
            np.maximum(best, self.after @ w, out=best)
        return best


class Matrix(Stored):
    """One matrix product for all actions."""

    def values(self, weights):
        q = self.after @ weights.T
        return np.maximum(q[:, 0], q[:, 1]) if self.actions == 2 else q.max(axis=1)


class Columns(Vectors):
    """As Vectors, with features stored column after column."""

    def __init__(self, tuples, degree):
        super().__init__(tuples, degree)
        self.after = np.asfortranarray(self.after)
        self.own = [np.asfortranarray(x) for x in self.own]


class Wide(Stored):
    """One matrix product for all actions, its result stored action after action."""

    def values(self, weights):
        q = weights @ self.after.T
        return np.maximum(q[0], q[1]) if self.actions == 2 else q.max(axis=0)


class Blocked(Stored):
    """Vectors over blocks of rows that stay in the second-level cache, next to the rows they follow."""

    BYTES = 1 << 17

    def __init__(self, tuples, degree):
        super().__init__(tuples, degree)
        step = max(1, self.BYTES // (8 * self.d))
        self.blocks, start = [], 0
        for a, x in enumerate(self.own):
            for first in range(0, len(x), step):
                last = min(first + step, len(x))
                part = slice(start + first, start + last)
                self.blocks.append((a, x[first:last], self.after[part], self.rewards[part]))
            start += len(x)
        self.buffers = np.empty((2, step))

    def iterate(self, weights):
        moments = np.zeros((self.actions, self.d))
        for a, x, after, r in self.blocks:
            best, other = self.buffers[:, : len(x)]
            np.dot(after, weights[0], out=best)
            for w in weights[1:]:
                np.dot(after, w, out=other)
                np.maximum(best, other, out=best)
            best *= DISCOUNT
            best += r
            moments[a] += best @ x
        return self.solve(moments)


class Trajectories(Problem):
    """One feature matrix for states and next states, as trajectories share them; targets of other actions are zero."""

    def __init__(self, tuples, degree):
        super().__init__(tuples, degree)
        rows = len(self.phi)
        self.mask = np.zeros((self.actions, rows))
        self.mask[self.a, self.now] = 1.0
        self.rewards = np.zeros(rows)
        self.rewards[self.now] = self.r
        del self.own

    def iterate(self, weights):
        best = self.phi @ weights[0]
        for w in weights[1:]:
            np.maximum(best, self.phi @ w, out=best)
        target = self.rewards.copy()
        target[:-1] += DISCOUNT * best[1:]
        return self.solve((self.mask * target) @ self.phi)


WAYS = [Vectors, Matrix, Columns, Wide, Blocked, Trajectories]


def run(problem, iterations):
    weights = np.zeros((problem.actions, problem.d))
    for _ in range(iterations):
        weights = problem.iterate(weights)
    return weights
