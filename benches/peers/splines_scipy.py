"""The regression behind our default mechanism in NumPy and SciPy, as an expert would write it.

The same columns, the same penalty, the same folds of people and the same 17 penalties as the library, so that both sides must agree:
natural cubic splines of each state coordinate with 12 knots at quantiles, beside the indicators of action and level (all interactions
of two), min ‖y − Xb‖² + λ n Σ ∫ f″² over levels and actions, λ by 5-fold cross-validation over people, apart for each output. One
eigendecomposition a fold serves all penalties and outputs, which is the fastest way that is known to us.
"""

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import cholesky, eigh, solve_triangular

KNOTS, FOLDS = 12, 5
PENALTIES = np.array([1e3, *(10 ** (0.5 - 0.5 * np.arange(16)))])
# λ₀, between the least and the largest: either as λ₀ would cost half of the digits at the other end.
MIDDLE = 1e-3


def quantile_knots(values):
    ordered = np.sort(values)
    # Halves go up, as in Rust.
    ranks = np.floor((len(ordered) - 1) * np.arange(KNOTS) / (KNOTS - 1) + 0.5).astype(int)
    return np.unique(ordered[ranks])


def spline(values):
    """N₁ = x, then the natural splines that are 1 at one interior knot, at each value; and the matrix of ∫ N″N″ of the latter."""
    knots = quantile_knots(values)
    scaled = (knots - knots[0]) / (knots[-1] - knots[0])
    x = (values - knots[0]) / (knots[-1] - knots[0])
    bent = CubicSpline(scaled, np.eye(len(knots))[:, 1:-1], bc_type="natural")
    g, h = bent(scaled, 2), np.diff(scaled)[:, None]
    left, right = g[:-1], g[1:]
    rough = left.T @ (h * left) + right.T @ (h * right) + (left.T @ (h * right) + right.T @ (h * left)) / 2
    return np.column_stack([x, bent(x)]), rough / 3


def design(data):
    """X, its penalty, the outputs, and the fold of each row."""
    people, horizon = data.actions.shape
    states = data.states[:, :-1].reshape(people * horizon, -1)
    splines = [spline(column) for column in states.T]
    functions = np.column_stack([np.ones(len(states)), *(values for values, _ in splines)])
    a = data.actions.ravel() == 1
    z = np.repeat(data.levels, horizon) == 1
    # Everybody, second action, second level: all functions; both: the constant alone.
    x = np.concatenate([functions, functions * a[:, None], functions * z[:, None], (a & z)[:, None]], axis=1)
    factors = np.array([[1, action, level] for action in (0, 1) for level in (0, 1)])
    q = functions.shape[1]
    penalty, start = np.zeros((x.shape[1],) * 2), 1
    for values, rough in splines:
        at = np.arange(start + 1, start + values.shape[1])
        for (i, j), f in np.ndenumerate(factors.T @ factors):
            penalty[np.ix_(i * q + at, j * q + at)] = f * rough
        start += values.shape[1]
    y = np.column_stack([data.states[:, 1:].reshape(len(states), -1), data.rewards.ravel()])
    return x, penalty, y, np.repeat(np.arange(people) % FOLDS, horizon)


class Path:
    """b(λ) of every output for every λ, from G = XᵀX, XᵀY and nP.

    G + λnP = LU((1 − s) + (λ/λ₀) s)UᵀLᵀ, where LLᵀ = G + λ₀nP and UsUᵀ = L⁻¹λ₀nPL⁻ᵀ.
    """

    def __init__(self, gram, moments, penalty):
        penalty = MIDDLE * penalty
        lower = cholesky(gram + penalty, lower=True)
        turned = solve_triangular(lower, solve_triangular(lower, penalty, lower=True).T, lower=True)
        self.s, u = eigh(turned, driver="evd")
        self.back = solve_triangular(lower, u, lower=True, trans=1)
        self.ahead = self.back.T @ moments

    def solutions(self, penalties):
        """Coefficients by penalty and output: (columns, penalties, outputs)."""
        shrunk = self.ahead[:, None, :] / ((1 - self.s)[:, None] + np.outer(self.s, penalties / MIDDLE))[:, :, None]
        return (self.back @ shrunk.reshape(len(self.s), -1)).reshape(shrunk.shape)

    def degrees(self, penalty):
        return float(((1 - self.s) / ((1 - self.s) + penalty / MIDDLE * self.s)).sum())


def fit(data):
    """The fitted values of all outputs, and the degrees of freedom of each."""
    x, penalty, y, folds = design(data)
    parts = [(x[folds == f], y[folds == f]) for f in range(FOLDS)]
    sums = [(a.T @ a, a.T @ b, (b * b).sum(axis=0), len(a)) for a, b in parts]
    gram, moments, _, n = (sum(part) for part in zip(*sums))
    errors = np.zeros((len(PENALTIES), y.shape[1]))
    for g, m, squares, rows in sums:
        b = Path(gram - g, moments - m, (n - rows) * penalty).solutions(PENALTIES)
        gb = (g @ b.reshape(len(g), -1)).reshape(b.shape)
        errors += squares - 2 * np.einsum("clo,co->lo", b, m) + np.einsum("clo,clo->lo", b, gb)
    best = errors.argmin(axis=0)
    path = Path(gram, moments, n * penalty)
    b = path.solutions(PENALTIES)[:, best, np.arange(y.shape[1])]
    fitted = x @ b
    degrees = [path.degrees(PENALTIES[at]) for at in best]
    _spread = np.sqrt(((y - fitted) ** 2).sum(axis=0) / (n - np.array(degrees)))
    return fitted, degrees
