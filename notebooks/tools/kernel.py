"""Starts the Rust kernel on a build folder that no other kernel uses at the same time.

The first kernel gets the shared folder, in which everything is built already; one that starts beside it gets a copy, which goes when it goes.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path


def seed(build: Path) -> None:
    """Cargo.lock of the repository, so that notebooks are built from the versions that everything else is tested with."""
    lock = Path.cwd().parent / "Cargo.lock"
    if lock.is_file():
        shutil.copyfile(lock, build / "Cargo.lock")


def copy(source: str, target: str) -> None:
    """A copy with its time; what the other kernel removes in between will be built again."""
    try:
        shutil.copy2(source, target)
    except FileNotFoundError:
        pass


def environment(build: Path) -> dict:
    """The kernel moves what it builds up a folder, and the path to Rust's standard library in it, relative to that folder, is then wrong."""
    library = subprocess.run(["rustc", "--print", "target-libdir"], check=True, capture_output=True, text=True).stdout.strip()
    name = "DYLD_LIBRARY_PATH" if sys.platform == "darwin" else "LD_LIBRARY_PATH"
    paths = [library] + [path for path in [os.environ.get(name)] if path]
    return {**os.environ, "EVCXR_TMPDIR": str(build), name: os.pathsep.join(paths)}


def main() -> int:
    evcxr, cache, control_file = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    shared = cache / "build"
    shared.mkdir(parents=True, exist_ok=True)
    lock = open(cache / "build.lock", "w")
    private = None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        build = shared
    except BlockingIOError:
        private = tempfile.TemporaryDirectory(prefix="counterfair-notebook-")
        build = Path(private.name)
        shutil.copytree(shared, build, dirs_exist_ok=True, symlinks=True, copy_function=copy)
    seed(build)
    child = subprocess.Popen([evcxr, "--control_file", control_file], env=environment(build), pass_fds=[lock.fileno()])
    # The kernel answers an interrupt itself; this process only waits for it.
    signal.signal(signal.SIGINT, lambda *_: child.send_signal(signal.SIGINT))
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    try:
        return child.wait()
    finally:
        if private is not None:
            private.cleanup()


if __name__ == "__main__":
    sys.exit(main())
