"""Where and with what a comparison was made."""

import datetime
import importlib.metadata
import os
import platform
import subprocess


def processor():
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def describe():
    packages = ["numpy", "scipy", "scikit-learn", "pandas", "torch", "pycfrl"]
    rust = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
    return dict(
        date=datetime.date.today().isoformat(),
        processor=processor(),
        cores=os.cpu_count(),
        system=platform.system(),
        # Others at work slow both sides; ratios of neighbouring turns bear it, times do not.
        load=round(os.getloadavg()[0], 1),
        versions=dict(python=platform.python_version(), rust=rust, **{p: importlib.metadata.version(p) for p in packages}),
    )
