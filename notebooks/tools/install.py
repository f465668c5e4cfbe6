"""Installs what `notebooks/run` needs into a cache of its own, once; what was interrupted goes on where it stopped.

    install.py python CACHE            the Python packages; prints the interpreter that has them
    install.py kernel CACHE            these and the Rust kernel, registered for that interpreter alone
    install.py lab CACHE               the same with JupyterLab

Standard library only. Everything is locked: of two runs at once, the second waits and then finds everything there.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
EVCXR = "0.22.0"
OLDEST = (3, 10)
# Crates in the kernel's lock file, for a share of what is done.
KERNEL_CRATES = 260


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def minutes(seconds: float) -> str:
    return f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"


class Locked:
    """Holds a name in the cache; tells when somebody else does."""

    def __init__(self, cache: Path, name: str):
        self.path = cache / f"{name}.lock"

    def __enter__(self):
        self.file = open(self.path, "w")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another process that holds {self.path}")
            fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        self.file.close()


def packages(cache: Path, listed: str) -> Path:
    """A virtual environment with the packages of a list; a folder for each list and version of Python."""
    text = (TOOLS / listed).read_bytes()
    version = "{}.{}".format(*sys.version_info[:2])
    folder = cache / f"{Path(listed).stem.replace('requirements', 'notebooks')}-{version}-{hashlib.sha256(text).hexdigest()[:12]}"
    python = folder / "bin" / "python"
    with Locked(cache, folder.name):
        if not (folder / "complete").exists():
            say(f"installing Python packages into {folder} (once; about a minute)")
            began = time.monotonic()
            if not python.exists():
                subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, stdout=sys.stderr)
            pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
            subprocess.run(pip + ["--require-hashes", "--only-binary", ":all:", "-r", str(TOOLS / listed)], check=True, stdout=sys.stderr)
            (folder / "complete").touch()
            say(f"Python packages installed in {minutes(time.monotonic() - began)}")
    return folder


def kernel(cache: Path) -> Path:
    """The Rust kernel. What was compiled before an interruption is kept and used."""
    root = cache / f"evcxr_jupyter-{EVCXR}"
    binary = root / "bin" / "evcxr_jupyter"
    with Locked(cache, root.name):
        if not binary.exists():
            if shutil.which("cargo") is None:
                raise SystemExit("notebooks/run: no cargo on the path; notebooks/run --html shows the committed results without Rust")
            say(f"building the Rust kernel, evcxr_jupyter {EVCXR}, into {cache} (once; 5 to 20 minutes, can be interrupted)")
            built = cache / f"evcxr_jupyter-{EVCXR}-target"
            # Its own release profile asks for link-time optimisation, which triples the build and gains a notebook nothing.
            profile = {"LTO": "off", "CODEGEN_UNITS": "16", "OPT_LEVEL": "2"}
            environment = {**os.environ, **{f"CARGO_PROFILE_RELEASE_{k}": v for k, v in profile.items()}, "CARGO_TARGET_DIR": str(built)}
            command = ["cargo", "install", "--locked", "--version", EVCXR, "--root", str(root), "evcxr_jupyter"]
            watched(command, environment)
            shutil.rmtree(built, ignore_errors=True)
    return binary


def watched(command: list, environment: dict) -> None:
    """Runs cargo; a terminal shows its own bar, anything else one line every half minute."""
    if sys.stderr.isatty():
        subprocess.run(command, env=environment, check=True, stdout=sys.stderr)
        return
    began, seen = time.monotonic(), []
    child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    done = threading.Event()

    def tell():
        while not done.wait(30):
            compiled = sum("Compiling" in line for line in seen)
            say(f"  {minutes(time.monotonic() - began)}: {compiled} of about {KERNEL_CRATES} crates begun; now {seen[-1].strip() if seen else 'starting'}")

    threading.Thread(target=tell, daemon=True).start()
    for line in child.stderr:
        seen.append(line)
    done.set()
    if child.wait() != 0:
        raise SystemExit("".join(seen[-30:]) + f"\nnotebooks/run: {' '.join(command)} failed")
    say(f"the kernel was built in {minutes(time.monotonic() - began)}")


def register(cache: Path, folder: Path, binary: Path) -> None:
    """The kernel for this environment alone: `rust` of a user is neither seen nor touched."""
    spec = folder / "share" / "jupyter" / "kernels" / "rust"
    settings = folder / "evcxr"
    for path in [spec, settings]:
        path.mkdir(parents=True, exist_ok=True)
    described = {
        "argv": [str(folder / "bin" / "python"), str(spec / "kernel.py"), str(binary), str(cache), "{connection_file}"],
        "display_name": "Rust",
        "language": "rust",
        "interrupt_mode": "message",
        "env": {"EVCXR_CONFIG_DIR": str(settings)},
    }
    written(settings / "init.evcxr", (TOOLS / "init.evcxr").read_text())
    written(spec / "kernel.py", (TOOLS / "kernel.py").read_text())
    written(spec / "kernel.json", json.dumps(described, indent=2) + "\n")


def written(path: Path, text: str) -> None:
    """All or nothing: a run beside this one may be reading."""
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_text(text)
    partial.replace(path)


def main(what: str, cache: Path) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    folder = packages(cache, "requirements-lab.txt" if what == "lab" else "requirements.txt")
    if what != "python":
        register(cache, folder, kernel(cache))
    print(folder / "bin" / "python")


if __name__ == "__main__":
    if sys.version_info < OLDEST:
        raise SystemExit(f"notebooks/run needs Python 3.10 or later; {sys.executable} is {sys.version.split()[0]} (COUNTERFAIR_PYTHON names another)")
    try:
        main(sys.argv[1], Path(sys.argv[2]))
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"notebooks/run: {' '.join(map(str, error.cmd))} ended with {error.returncode}; run again to go on") from None
