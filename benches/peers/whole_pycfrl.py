"""PyCFRL from a file to a policy and its value, with its defaults."""

import contextlib
import os
import warnings

ITERATIONS = 100


def read(csv, horizon):
    """Its reader: levels, states, actions and rewards as arrays of people and times."""
    from pycfrl.reader import read_trajectory_from_csv

    return read_trajectory_from_csv(csv, ["z1"], ["state1"], "action", "reward", "ID", horizon)


def run(csv, horizon, evaluate):
    """Preprocessing, fitted Q iteration and, if asked, fitted Q evaluation; B = 100 where PyCFRL's default is 1000 (200 to evaluate)."""
    from pycfrl.agents import FQI
    from pycfrl.evaluation import evaluate_reward_through_fqe
    from pycfrl.preprocessor import SequentialPreprocessor

    with open(os.devnull, "w") as quiet, contextlib.redirect_stderr(quiet), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zs, states, actions, rewards, _ = read(csv, horizon)
        preprocessor = SequentialPreprocessor(z_space=[[0], [1]], num_actions=2)
        fair_states, fair_rewards = preprocessor.train_preprocessor(zs, states, actions, rewards)
        agent = FQI(num_actions=2, model_type="nn", preprocessor=preprocessor)
        agent.train(zs, fair_states, actions, fair_rewards, max_iter=ITERATIONS, preprocess=False)
        if not evaluate:
            return None
        return float(
            evaluate_reward_through_fqe(zs, states, actions, rewards, agent, model_type="nn", max_iter=ITERATIONS)
        )
