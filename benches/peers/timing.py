"""Two sides in turns, and what their times say."""

import time

import numpy as np


def timed(work):
    """Seconds on the clock and on the processors, and the result."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return dict(wall=time.perf_counter() - wall, cpu=time.process_time() - cpu), result


def quartiles(values):
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
    return dict(median=float(median), low=float(low), high=float(high))


def alternate(ours, peer, repetitions, clock):
    """Both sides in turns, so that each pair meets the same machine; a ratio is the peer's time over ours in the same turn."""
    pairs = [(ours()[clock], peer()[clock]) for _ in range(repetitions)]
    mine, theirs = np.array(pairs).T
    return dict(
        clock=clock,
        repetitions=repetitions,
        our_seconds=quartiles(mine),
        peer_seconds=quartiles(theirs),
        ratio=quartiles(theirs / mine),
    )
