"""The library beside its peers: who takes how long for the same, in turns, on the same machine."""

import argparse
import json
import os
import pathlib
import sys
import tempfile

import numpy as np
import pandas
import torch
from threadpoolctl import threadpool_limits

import fqi_numpy
import machine
import net_torch
import splines_scipy
import splines_sklearn
import tuples
import whole_pycfrl
from fqi_sklearn import Loop
from ours import Ours
from timing import alternate, timed

HORIZON = 20
# d features: monomials of this degree in these coordinates, with this many levels.
FEATURES = {6: (2, 2, 1), 15: (2, 4, 1), 50: (3, 4, 2)}
# Ratios that the library is held to, one thread against one thread.
BARS = dict(numpy=3, sklearn=20, pipeline=1000, neural=10, net32=5, net64=2.5, stream=1.5)
# A measurement lasts at least so many seconds, so that clocks and calls do not matter.
LASTS = 0.15
# What rounding may do to weights after some iterations of well-conditioned regressions.
AGREEMENT = 1e-8


class Comparison:
    def __init__(self, arguments, folder):
        self.folder, self.quick, self.found = folder, arguments.quick, []
        self.cores = os.cpu_count()
        self.sides = {t: Ours(arguments.program, t) for t in {1, self.cores}}

    def note(self, what, peer, threads, size, bar, result, **more):
        """One row of the results. A bar is for one thread; `reached` is about the median."""
        bar = bar if threads == 1 else None
        reached = None if bar is None else result["ratio"]["median"] >= bar
        self.found.append(dict(what=what, peer=peer, threads=threads, size=size, bar=bar, reached=reached, **more, **result))
        ratio = result["ratio"]
        verdict = {None: "", True: f"  ≥ {bar}: reached", False: f"  ≥ {bar}: NOT reached"}[reached]
        shape = " ".join(f"{k}={v}" for k, v in size.items())
        print(f"{what} against {peer}, {threads} thread(s), {shape}: {ratio['median']:.1f} "
              f"[{ratio['low']:.1f}, {ratio['high']:.1f}]{verdict}", flush=True)  # fmt: skip

    def ours_iteration(self, threads, spec, degree):
        """Seconds of one of our iterations in the mean over the paper's 100, which are not alike: those after the greedy actions
        have settled cost less. All of a fit, less a fit without iterations."""
        def fit(iterations, repeat):
            return self.sides[threads].ask("fitted_q", tuples=spec, degree=degree, iterations=iterations, repeat=repeat)

        iterations = 100
        first = fit(iterations, 1)
        if not first["outcome"].startswith("IterationLimit"):
            raise RuntimeError(f"our fit ended as {first['outcome']}")
        repeat = max(1, round(LASTS / first["time"]["wall"]))

        def measure():
            long, short = fit(iterations, repeat)["time"], fit(0, repeat)["time"]
            return {clock: (long[clock] - short[clock]) / iterations for clock in long}

        return measure, lambda iterations: np.array(fit(iterations, 1)["weights"])

    def fitted_q(self, n, d, ways):
        """Against NumPy's fastest way and against a loop of scikit-learn's regressions."""
        degree, coordinates, levels = FEATURES[d]
        data = tuples.draw(max(2, n // HORIZON), HORIZON, coordinates, levels)
        # A folder of its own: the library keeps what it has read from a folder.
        spec, size = data.write(self.folder / f"tuples-{n}-{d}"), dict(n=n, d=d)
        speed = {}
        for way in ways:
            problem = way(data, degree)
            speed[way] = min(timed(lambda: fqi_numpy.run(problem, 3))[0]["cpu"] for _ in range(3))
            del problem
        ranked = sorted(ways, key=speed.get)
        problem = ranked[0](data, degree)
        for threads in sorted(self.sides):
            clock = "cpu" if threads == 1 else "wall"
            ours, weights = self.ours_iteration(threads, spec, degree)
            with threadpool_limits(threads):
                once = timed(lambda: fqi_numpy.run(problem, 3))[0]["wall"] / 3
                k = max(1, round(LASTS / once))

                def numpy():
                    return {c: t / k for c, t in timed(lambda: fqi_numpy.run(problem, k))[0].items()}

                gap = difference(fqi_numpy.run(problem, 20).ravel(), weights(20))
                turns = 3 if self.quick else (5 if n > 200_000 else 9)
                self.note("fitted Q iteration", "NumPy", threads, size, BARS["numpy"],
                          alternate(ours, numpy, turns, clock), way=ranked[0].__name__, difference=gap)  # fmt: skip

                loop, k = Loop(data, degree), 3 if n <= 200_000 else 2

                def sklearn():
                    return {c: t / k for c, t in timed(lambda: loop.run(k))[0].items()}

                gap = difference(loop.run(k).ravel(), weights(k))
                turns = 3 if self.quick or n <= 200_000 else 2
                self.note("fitted Q iteration", "scikit-learn", threads, size, BARS["sklearn"],
                          alternate(ours, sklearn, turns, clock), difference=gap)  # fmt: skip
                del loop
        return ranked

    def stream(self):
        """100 iterations at two million tuples beside 100 readings of their feature matrix."""
        n, d = (100_000 if self.quick else 2_000_000), 15
        degree, coordinates, levels = FEATURES[d]
        spec = tuples.draw(n // HORIZON, HORIZON, coordinates, levels).write(self.folder / "tuples-stream")
        side = self.sides[1]

        def fit():
            return side.ask("fitted_q", tuples=spec, degree=degree, iterations=100, repeat=1)["time"]

        def read():
            return side.ask("stream", numbers=n * d, repeat=100)["time"]

        fit()
        result = alternate(fit, lambda: {c: 100 * t for c, t in read().items()}, 5, "cpu")
        # Turned round: how many times the reading our fit takes; less is better.
        times = {k: 1 / result["ratio"][v] for k, v in [("median", "median"), ("low", "high"), ("high", "low")]}
        reached = times["median"] <= BARS["stream"]
        bandwidth = {k: n * d * 8 / (t / 100) / 1e9 for k, t in result["peer_seconds"].items()}
        self.found.append(dict(what="100 iterations", peer="reading the features 100 times", threads=1,
                               size=dict(n=n, d=d), bar=BARS["stream"], reached=reached, times=times,
                               gigabytes_a_second=bandwidth["median"], **result))  # fmt: skip
        print(f"100 iterations over {n} tuples take {times['median']:.2f} [{times['low']:.2f}, {times['high']:.2f}] times "
              f"the time to read their features 100 times at {bandwidth['median']:.1f} GB/s: "
              f"≤ {BARS['stream']} {'reached' if reached else 'NOT reached'}", flush=True)  # fmt: skip

    def nets(self):
        """Against PyTorch: mini-batches of 512, as means are fitted, and all rows at once, as action values are."""
        rows = 10_000
        net_torch.keep_memory()
        for hidden, bar in [([32], BARS["net32"]), ([64, 64], BARS["net64"])]:
            for batch, epochs in [(512, 5), (None, 40)]:
                net = net_torch.Net([4, *hidden, 2], rows)
                net.write(self.folder / "net")
                steps = epochs if batch is None else epochs * -(-rows // batch)
                for threads in sorted(self.sides):
                    torch.set_num_threads(threads)
                    clock = "cpu" if threads == 1 else "wall"
                    fused = min([False, True], key=lambda f: timed(lambda: net.train(epochs, batch, 0.005, f))[0][clock])
                    request = dict(folder=str(self.folder / "net"), widths=net.widths, batch=batch, epochs=epochs)
                    losses = {}

                    def ours():
                        answer = self.sides[threads].ask("network", learning_rate=0.005, repeat=1, **request)
                        losses["ours"] = answer["loss"]
                        return {c: t / steps for c, t in answer["time"].items()}

                    def peer():
                        time, losses["peer"] = timed(lambda: net.train(epochs, batch, 0.005, fused))
                        return {c: t / steps for c, t in time.items()}

                    result = alternate(ours, peer, 3 if self.quick else 9, clock)
                    size = dict(hidden=hidden, rows=rows, batch=batch or rows)
                    if batch is None and abs(losses["ours"] / losses["peer"] - 1) > AGREEMENT:
                        raise RuntimeError(f"after the same steps the losses are {losses}")
                    self.note("gradient step", "PyTorch", threads, size, bar, result, losses=losses)

    def splines(self):
        """The default mechanism's regression, levels together: the same in SciPy, and what scikit-learn offers for the job.

        Ours also takes the slopes of the fit, to pass over penalties that would make iterated states grow, and its gain on the data.
        """
        people, side = 500, self.sides[1]
        for coordinates in [1, 3] if self.quick else [1, 3, 10]:
            data = tuples.draw(people, HORIZON, coordinates, 2)
            # Something to bend for.
            data.rewards += np.sin(2 * data.states[:, :-1]).sum(axis=2)
            spec = data.write(self.folder / f"splines-{coordinates}")
            size = dict(rows=people * HORIZON, coordinates=coordinates)
            once = side.ask("splines", tuples=spec, repeat=1)
            repeat = max(1, round(LASTS / once["time"]["wall"]))
            ours = lambda: side.ask("splines", tuples=spec, repeat=repeat)["time"]
            with threadpool_limits(1):
                fitted, degrees = splines_scipy.fit(data)
                gap = difference(fitted.ravel(), np.array(once["fitted"]))
                if not np.allclose(degrees, once["degrees"], rtol=1e-6):
                    raise RuntimeError(f"degrees of freedom are {degrees} and {once['degrees']}")
                peer = lambda: timed(lambda: splines_scipy.fit(data))[0]
                self.note("the same penalised spline fit, 17 penalties, 5 folds", "NumPy and SciPy", 1, size, None,
                          alternate(ours, peer, 3 if self.quick else 9, "cpu"), difference=gap)  # fmt: skip
                peer = lambda: timed(lambda: splines_sklearn.fit(data))[0]
                peer()
                self.note("spline fit by its parts (ridge penalty), 17 penalties, 5 folds", "scikit-learn", 1, size, None,
                          alternate(ours, peer, 1 if self.quick else 3, "cpu"))  # fmt: skip

    def readers(self):
        """A file in long form: pandas gives columns; PyCFRL and we give people, and we check every cell and the times of every person."""
        people, horizon = (500 if self.quick else 10_000), 20
        csv, side = str(self.folder / "long.csv"), self.sides[1]
        side.ask("simulate", people=people, horizon=horizon, csv=csv)
        size = dict(people=people, horizon=horizon, megabytes=round(os.path.getsize(csv) / 1e6, 1))
        once = side.ask("read", csv=csv, repeat=1)
        frame = pandas.read_csv(csv, engine="c")
        sums = [frame["state1"].sum(), frame["reward"].sum()]
        if once["people"] != frame["ID"].nunique() or not np.allclose(sums, once["sums"], rtol=AGREEMENT):
            raise RuntimeError(f"pandas reads {sums}, we read {once['sums']}")
        repeat = max(1, round(LASTS / once["time"]["wall"]))
        ours = lambda: side.ask("read", csv=csv, repeat=repeat)["time"]
        peer = lambda: timed(lambda: pandas.read_csv(csv, engine="c"))[0]
        self.note("a CSV file to people, against its columns alone", "pandas.read_csv (C)", 1, size, None,
                  alternate(ours, peer, 3 if self.quick else 9, "cpu"))  # fmt: skip
        peer = lambda: timed(lambda: whole_pycfrl.read(csv, horizon))[0]
        self.note("a CSV file to people", "PyCFRL", 1, size, None, alternate(ours, peer, 1 if self.quick else 3, "cpu"))

    def pipelines(self):
        """Against PyCFRL, from a file to a policy; its neural default takes minutes, so there are few turns."""
        people, horizon = 100, 10
        csv = str(self.folder / "panel.csv")
        side = self.sides[1]
        side.ask("simulate", people=people, horizon=horizon, csv=csv)
        size = dict(people=people, horizon=horizon)
        for learner, what, evaluate, repeat in [
            ("least_squares", "file to policy and value", True, 20),
            ("neural", "the same nets and steps, file to policy", False, 1),
        ]:
            ours = lambda: side.ask("pipeline", csv=csv, learner=learner, repeat=repeat)["time"]
            peer = lambda: timed(lambda: whole_pycfrl.run(csv, horizon, evaluate))[0]
            ours()
            bar = BARS["pipeline" if learner == "least_squares" else "neural"]
            self.note(what, "PyCFRL", 1, size, bar, alternate(ours, peer, 1 if self.quick else 2, "cpu"))


def difference(theirs, mine):
    """The largest gap between weights, as a share of the largest; both sides must have computed the same."""
    gap = float(np.abs(theirs - mine).max() / np.abs(theirs).max())
    if not gap < AGREEMENT:
        raise RuntimeError(f"weights differ by {gap:.1e} of the largest")
    return gap


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--largest", type=int, default=2_000_000, help="the most tuples; sizes beyond are left unmeasured")
    every = ["fitted_q", "stream", "nets", "splines", "readers", "pipelines"]
    parser.add_argument("--only", choices=every, nargs="*", help="only these; the other rows of the results are kept")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).with_name("results.json"))
    arguments = parser.parse_args()
    parts = arguments.only or every
    about = machine.describe()
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(arguments, pathlib.Path(folder))
        if "fitted_q" in parts:
            sizes = [1_000, 10_000] if arguments.quick else [1_000, 10_000, 200_000, 2_000_000]
            sizes = [n for n in sizes if n <= arguments.largest]
            for d in FEATURES:
                ways = fqi_numpy.WAYS
                for n in sizes:
                    # At two million rows only the two fastest ways at 200 000 are tried: building one takes a minute.
                    ways = comparison.fitted_q(n, d, ways[:2] if n > 200_000 else fqi_numpy.WAYS)
        if "stream" in parts:
            comparison.stream()
        for part in ["nets", "splines", "readers", "pipelines"]:
            if part in parts:
                getattr(comparison, part)()
    missed = [row for row in comparison.found if row["reached"] is False]
    print(f"{len(missed)} of {sum(row['reached'] is not None for row in comparison.found)} bars not reached")
    if not arguments.quick:
        kept = []
        if arguments.only and arguments.out.exists():
            kept = json.loads(arguments.out.read_text())["rows"]
        new = {(r["what"], r["peer"]) for r in comparison.found}
        rows = [r for r in kept if (r["what"], r["peer"]) not in new] + comparison.found
        arguments.out.write_text(json.dumps(dict(machine=about, rows=rows), indent=1, ensure_ascii=False) + "\n")
    for side in comparison.sides.values():
        side.close()


if __name__ == "__main__":
    sys.exit(main())
