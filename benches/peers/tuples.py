"""Tuples for fitted Q iteration, written once and read by both sides."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Tuples:
    states: np.ndarray  # people, horizon + 1, coordinates
    actions: np.ndarray  # people, horizon
    rewards: np.ndarray  # people, horizon
    levels: np.ndarray  # people
    actions_count: int
    levels_count: int

    def views(self):
        """What a policy reads: the state, and the level's code where there is more than one level."""
        rows = self.states.reshape(-1, self.states.shape[2])
        if self.levels_count == 1:
            return rows
        return np.column_stack([rows, np.repeat(self.levels, self.states.shape[1])])

    def write(self, folder):
        """Little-endian numbers, one file an array; gives back how the library is told of them."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in ["states", "actions", "rewards", "levels"]:
            getattr(self, name).astype("<f8").tofile(folder / name)
        return dict(
            folder=str(folder),
            horizon=self.actions.shape[1],
            coordinates=self.states.shape[2],
            levels=self.levels_count,
            actions=self.actions_count,
        )


def draw(people, horizon, coordinates, levels, seed=1):
    """Coordinates that wander, answer to the action and pay for where they are; two actions, drawn evenly."""
    rng = np.random.default_rng(seed)
    states = rng.standard_normal((people, horizon + 1, coordinates))
    actions = rng.integers(0, 2, (people, horizon))
    codes = np.arange(people) % levels
    push = 0.25 * (actions - codes[:, None])
    for t in range(horizon):
        states[:, t + 1] = 0.5 * states[:, t] + push[:, t, None] + 0.5 * states[:, t + 1]
    rewards = states[:, :-1].sum(axis=2) + 0.5 * actions + rng.standard_normal((people, horizon))
    return Tuples(states, actions, rewards, codes, 2, levels)
