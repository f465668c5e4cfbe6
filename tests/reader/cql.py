"""Conservative Q-learning (d3rlpy 2) on counterfair's fair states, and back again.

    counterfair preprocess --data study.csv --out fair.csv --save fair.json
    python3 cql.py train fair.csv cql.d3
    counterfair evaluate --policy-command "python3 cql.py serve cql.d3" --preprocessing fair.json --data others.csv
    counterfair study    --policy-command "python3 cql.py serve cql.d3" --preprocessing fair.json --data others.csv
    counterfair decide   --policy-command "python3 cql.py serve cql.d3" --preprocessing fair.json

Reads a file with one row per person and time in which a row holds the action and reward that led to its state (`--rows incoming`,
the default). The model is written with its actions' names beside it, in cql.d3.json.

Run with d3rlpy 2.8.1 on `simulate --world linear --n 400 --t 10 --seed 11`, judged on seed 12 (γ = 0.9, `--preprocessing ours.json --against ours.json`):
value over ten decisions 1.38 [-0.23, 3.00], Ours 3.11 [2.01, 4.20], what people received 1.15 [0.43, 1.87], Random -0.91 [-1.43, -0.39]; CF metric of
CQL 0.029 [0.010, 0.062]. 5000 steps are few: this is no judgement of CQL.
The same model by `study`, judged on the first 120 people of seed 12 (`--preprocessing fair.json`): Program minus what people received 0.6 (-1.5 to 2.7),
Ours 1.9 (0.4 to 3.3), Full 3.0 (2.2 to 3.8); CF metric 0.033 (0.010 to 0.070), 0.044 (0.019 to 0.092), 0.476 (0.417 to 0.535).
"""
import json
import sys

# d3rlpy reports on standard output, which belongs to the conversation: everything but answers goes to standard error.
answers, sys.stdout = sys.stdout, sys.stderr

import d3rlpy
import numpy as np


def train(file, model, steps=5000, discount=0.9):
    import pandas as pd

    d3rlpy.seed(1)
    table = pd.read_csv(file, dtype={"ID": str, "action": str})
    states = table.filter(regex=r"^state\d+$").to_numpy("float32")
    # The action and reward of row t led to its state; the decision taken *in* that state stands one row below.
    after = table.groupby("ID", sort=False)[["action", "reward"]].shift(-1)
    last = after.action.isna()
    actions = sorted(table.action.dropna().unique())
    codes = after.action.map({name: code for code, name in enumerate(actions)}).fillna(0).to_numpy("int64")
    data = d3rlpy.dataset.MDPDataset(
        states,
        codes[:, None],
        after.reward.fillna(0).to_numpy("float32")[:, None],
        np.zeros(len(table), "float32"),
        timeouts=last.to_numpy("float32"),
        action_space=d3rlpy.constants.ActionSpace.DISCRETE,
        action_size=len(actions),
    )
    # The default moves the target every 8000 steps, which is more than there are here.
    scaler = d3rlpy.preprocessing.StandardObservationScaler()
    config = d3rlpy.algos.DiscreteCQLConfig(
        gamma=discount, learning_rate=1e-3, batch_size=256, target_update_interval=200, observation_scaler=scaler
    )
    learner = config.create(device=False)
    learner.fit(data, n_steps=steps, n_steps_per_epoch=steps, show_progress=False, logger_adapter=d3rlpy.logging.NoopAdapterFactory())
    learner.save(model)
    with open(model + ".json", "w") as names:
        json.dump(actions, names)


def serve(model):
    learner = d3rlpy.load_learnable(model, device=False)
    with open(model + ".json") as file:
        names = json.load(file)
    say = lambda line: print(json.dumps(line), file=answers, flush=True)
    greeting = json.loads(sys.stdin.readline())
    assert (greeting["format"], greeting["version"]) == ("counterfair program", 1), "another format or version"
    assert set(names) <= set(greeting["actions"]), f"{names} are not among {greeting['actions']}"
    say({"version": 1, "answers": "actions"})
    for line in sys.stdin:
        asked = json.loads(line)
        chosen = learner.predict(np.array(asked["views"], "float32"))
        say({"batch": asked["batch"], "actions": [names[code] for code in chosen]})


if __name__ == "__main__":
    task, files = sys.argv[1], sys.argv[2:]
    if task == "train":
        train(files[0], files[1])
    elif task == "serve":
        serve(files[0])
    else:
        sys.exit(f"{task}: neither train nor serve")
