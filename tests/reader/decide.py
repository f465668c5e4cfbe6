"""A second reader of policy.json, with NumPy alone: python3 decide.py policy.json < requests > answers.

Reads least-squares policies (polynomial or winsorised action values) with additive noise around linear, polynomial or spline means, and answers the same lines as
`counterfair decide --explain`: action, values of all actions and counterfactual states. Written from the schema, not from the program.
"""
import itertools
import json
import sys

import numpy as np


def monomials(x, degree):
    """1, then products of coordinates by rising degree, factors never decreasing."""
    powers = (itertools.combinations_with_replacement(range(len(x)), d) for d in range(degree + 1))
    return np.array([np.prod([x[j] for j in factors]) for factors in itertools.chain(*powers)])


def spline(knots, c, x):
    """c[0] times the scaled x, plus the natural cubic spline with the values 0, c[1:], 0 at the knots; straight beyond them."""
    k = (np.array(knots) - knots[0]) / (knots[-1] - knots[0])
    x = (x - knots[0]) / (knots[-1] - knots[0])
    y, h, m = np.r_[0.0, c[1:], 0.0], np.diff(k), len(k)
    system, right = np.eye(m), np.zeros(m)  # second derivatives g, 0 at both ends
    for i in range(1, m - 1):
        system[i, i - 1 : i + 2] = h[i - 1] / 6, (h[i - 1] + h[i]) / 3, h[i] / 6
        right[i] = (y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1]
    g = np.linalg.solve(system, right)
    if x < 0:
        value = x * ((y[1] - y[0]) / h[0] - h[0] * g[1] / 6)
    elif x > 1:
        value = (x - 1) * ((y[-1] - y[-2]) / h[-1] + h[-1] * g[-2] / 6)
    else:
        i = min(np.searchsorted(k, x, side="right") - 1, m - 2)
        t = (x - k[i]) / h[i]
        u = 1 - t
        value = u * y[i] + t * y[i + 1] + h[i] ** 2 / 6 * ((u**3 - u) * g[i] + (t**3 - t) * g[i + 1])
    return c[0] * x + value


class Policy:
    def __init__(self, text):
        p = json.loads(text)
        assert p["format"] == "counterfair policy" and p["version"] in (1, 2), "another format or version"
        self.method, self.levels, self.actions, self.p = p["method"], p["levels"], p["actions"], p["state_dim"]
        self.mechanism, self.q, self.memory = p.get("mechanism"), p["q"]["linear"], {}

    def next_mean(self, level, state, action):
        """Mean next state at a level: p outputs, then the reward, which deciding does not need."""
        table = self.mechanism["means"]["table"]
        basis = table["bases"][level if len(table["bases"]) > 1 else 0]
        c = np.array(table["coefficients"][level][action]).reshape(self.p + 1, -1)[: self.p]
        if "linear" in basis:
            return c @ np.r_[1.0, state]
        if "polynomial" in basis:
            return c @ monomials(state, basis["polynomial"][1])
        ends = np.cumsum([1] + [len(knots) - 1 for knots in basis["spline"]])
        terms = lambda row: sum(spline(k, row[a:b], x) for k, a, b, x in zip(basis["spline"], ends, ends[1:], state))
        return np.array([row[0] + terms(row) for row in c])

    def values(self, view):
        f = self.q["features"]
        weights = np.array(self.q["weights"]).reshape(len(self.actions), -1)
        if f["kind"] == "winsorised":
            levels = f["levels"]
            e = view if levels == 1 else np.r_[view[:-1], np.arange(levels) == view[-1]]
            x = (np.array(f["matrix"]).reshape(len(f["center"]), -1) @ e - f["center"]) / f["scale"]
            return weights @ monomials(np.minimum(np.maximum(x, f["low"]), f["high"]), f["degree"])
        n, k = len(f["center"]), f["levels"]
        phi = monomials((view[:n] - f["center"]) / f["scale"], f["degree"])
        lower = monomials((view[:n] - f["center"]) / f["scale"], f["degree"] - 1) if f["degree"] else []
        phi = np.r_[phi, *[(view[-1] == level) * np.array(lower) for level in range(1, k)]]
        return weights @ phi

    def decide(self, request):
        z, s = self.levels.index(str(request["z"])), np.array(request["state"], float)
        if self.method != "ours":
            view = s if self.method == "unaware" else np.r_[s, z]
            worlds = None
        else:
            if request.get("action") is None:
                means = np.array(self.mechanism["initial"])
            else:
                action = self.actions.index(str(request["action"]))
                means = np.array([self.next_mean(k, w, action) for k, w in enumerate(self.memory[request["id"]])])
            worlds = s - means[z] + means
            worlds[z] = s
            self.memory[request["id"]], view = worlds, worlds.ravel()
        q = self.values(view)
        answer = {"id": request["id"], "action": self.actions[int(np.argmax(q))], "values": dict(zip(self.actions, q))}
        return answer if worlds is None else answer | {"counterfactual_states": dict(zip(self.levels, worlds.tolist()))}


if __name__ == "__main__":
    policy = Policy(open(sys.argv[1]).read())
    for line in sys.stdin:
        print(json.dumps(policy.decide(json.loads(line))))
