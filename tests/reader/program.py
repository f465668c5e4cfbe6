"""A policy as a program, with NumPy alone: counterfair evaluate --policy-command "python3 program.py policy.json" ...

Serves a least-squares policy by the lines that src/fair/schema/program.json describes. Take it as a pattern: everything that
is about this one policy is in `choose`.
"""
import json
import sys

import numpy as np

from decide import Policy


def choose(policy, views):
    """One action per view."""
    return [policy.actions[int(np.argmax(policy.values(np.array(view))))] for view in views]


if __name__ == "__main__":
    policy = Policy(open(sys.argv[1]).read())
    greeting = json.loads(sys.stdin.readline())
    assert (greeting["format"], greeting["version"]) == ("counterfair program", 1), "another format or version"
    assert (greeting["reads"], greeting["actions"]) == (policy.method, policy.actions), "another policy's views or actions"
    print(json.dumps({"version": 1, "answers": "actions"}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps({"batch": asked["batch"], "actions": choose(policy, asked["views"])}), flush=True)
