"""Executes the notebooks and compares them with what is committed.

    notebooks.py execute NOTEBOOK…      runs each from top to bottom and writes its outputs into it
    notebooks.py check NOTEBOOK…        runs each and fails where an output is not the one in the file
    notebooks.py html FOLDER NOTEBOOK…  renders what is in the files
    notebooks.py self-test FOLDER       shows that broken cells and changed outputs are noticed
"""

import fcntl
import os
import sys
import threading
import time
from pathlib import Path

import nbformat
from compare import code_cells, drift, joined, shown, without_colour
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

KERNEL = "rust"
# The first cell builds the library and all it stands on: minutes, or an hour on a machine that is busy.
CELL_SECONDS = 7200


class Failure(Exception):
    """A notebook that is not as it should be; its text is all a reader needs."""


def read(path: Path):
    return nbformat.read(path, as_version=4)


class Progress:
    """Says every half minute what is waited for, so that nobody wonders whether a run has stopped."""

    def __init__(self, name: str, cells: int):
        self.name, self.cells, self.began = name, cells, time.monotonic()
        self.number, self.line, self.since = 0, "starting the kernel", self.began
        self.done = threading.Event()

    def cell(self, cell, **_) -> None:
        if cell.cell_type == "code":
            first = next((line for line in cell.source.splitlines() if line.strip()), "")
            self.number, self.line, self.since = self.number + 1, first, time.monotonic()

    def tell(self) -> None:
        while not self.done.wait(30):
            now = time.monotonic()
            building = ", which builds the library (minutes the first time)" if self.line.startswith(":dep") else ""
            at = f"cell {self.number} of {self.cells} for {now - self.since:.0f} s{building}: {self.line[:60]}" if self.number else self.line
            print(f"  {self.name}, {now - self.began:.0f} s: {at}", file=sys.stderr, flush=True)

    def __enter__(self):
        threading.Thread(target=self.tell, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.done.set()


def execute(notebook, folder: Path, name: str, allow_errors: bool = False):
    """Runs a notebook in place; outputs are put in a form that does not depend on how the kernel cut them up."""
    with Progress(name, len(code_cells(notebook))) as progress:
        client = NotebookClient(
            notebook,
            timeout=CELL_SECONDS,
            startup_timeout=300,
            kernel_name=KERNEL,
            allow_errors=allow_errors,
            record_timing=False,
            on_cell_start=progress.cell,
            resources={"metadata": {"path": str(folder)}},
        )
        client.execute()
    for cell in code_cells(notebook):
        cell.outputs = joined(cell.outputs)
    notebook.metadata.pop("widgets", None)
    return notebook


def run(path: Path):
    """A fresh, executed copy; a cell that fails is a Failure in the words of the cell."""
    notebook = read(path)
    for cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    began = time.monotonic()
    try:
        execute(notebook, path.parent, path.name)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise Failure(f"{path.name}: {broken(notebook, error)}") from None
    print(f"{path.name}: {len(code_cells(notebook))} cells in {time.monotonic() - began:.0f} s", flush=True)
    return notebook


def broken(notebook, error) -> str:
    """The first cell that failed, what it is, and what it said."""
    for number, cell in enumerate(code_cells(notebook), 1):
        said = [o.get("text", "") for o in cell.outputs if o.output_type == "stream" and o.name == "stderr"]
        said += ["\n".join(o.traceback) for o in cell.outputs if o.output_type == "error"]
        if any(o.output_type == "error" for o in cell.outputs):
            return f"code cell {number} failed\n{indented(cell.source)}\n{without_colour(''.join(said)).strip()}"
    return str(error)


def indented(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())


def check(path: Path) -> list:
    committed = read(path)
    if any(cell.execution_count != number for number, cell in enumerate(code_cells(committed), 1)):
        return [f"{path.name}: the committed cells were not executed once each, from top to bottom"]
    return drift(path.name, committed, run(path))


BROKEN = {
    "a panic": 'panic!("this cell is broken")',
    "a failed assertion": "assert_eq!(1 + 1, 3)",
    "an error that was not expected": 'Err::<f64, _>("a level has no data").or_stop()',
    "an error at the end of a cell": 'Err::<Estimate, _>("a level has no data")',
    "code that does not compile": "let x: u32 = \"text\";",
}


def self_test(folder: Path) -> list:
    """Cells that must fail do, in the words of the library; a cell after them works; a changed result is noticed."""
    from jupyter_client.kernelspec import KernelSpecManager

    wrong = []
    found = Path(KernelSpecManager().get_kernel_spec(KERNEL).resource_dir)
    if not found.is_relative_to(Path(sys.prefix)):
        wrong.append(f"self-test: the kernel would be {found}, not the one in {sys.prefix}")
    new = nbformat.v4.new_code_cell
    start = ':dep counterfair = { path = "..", default-features = false, features = ["report"] }\n'
    # Failure takes the variables and the imports of a cell with it, as in a notebook; each cell stands on its own.
    imports, good = "use counterfair::notebook::prelude::*;\n", "Estimate::of(&[1.0, 2.0, 4.0])"
    sources = [start + imports + good] + [imports + source for source in BROKEN.values()]
    sources += [imports + good, imports + "Estimate::of(&[1.0, 2.0, 4.1])"]
    notebook = execute(nbformat.v4.new_notebook(cells=[new(source) for source in sources]), folder, "self-test", allow_errors=True)
    for (name, _), cell in zip(BROKEN.items(), notebook.cells[1:]):
        if not any(o.output_type == "error" for o in cell.outputs):
            wrong.append(f"self-test: {name} did not fail its cell: {[shown(o) for o in cell.outputs]}")
        elif "error" in name and "error: a level has no data\n" not in [o.get("text") for o in cell.outputs]:
            wrong.append(f"self-test: {name} does not read like the library's errors: {[shown(o) for o in cell.outputs]}")
    first, again, other = notebook.cells[0], notebook.cells[-2], notebook.cells[-1]
    if not first.outputs or [shown(o) for o in first.outputs] != [shown(o) for o in again.outputs]:
        wrong.append(f"self-test: a good cell shows {[shown(o) for o in first.outputs]} and later {[shown(o) for o in again.outputs]}")
    alone = lambda cell: nbformat.v4.new_notebook(cells=[cell])
    if drift("self-test", alone(first), alone(again)):
        wrong.append("self-test: a notebook is said to differ from itself")
    if len(drift("self-test", alone(first), alone(other))) != 1:
        wrong.append("self-test: another result of the library is not noticed")
    wrong += goes_on_after_a_failure()
    if not wrong:
        print(f"self-test: {len(BROKEN)} broken cells failed, a good one did not, another result was noticed, the kernel is ours")
    return wrong


def goes_on_after_a_failure() -> list:
    """Of three notebooks the first two fail: both are told, and the third is still looked at."""
    asked = []

    def failing(path):
        asked.append(path)
        if len(asked) < 3:
            raise Failure(f"{path}: broken")
        return []

    told = each([Path("a"), Path("b"), Path("c")], failing)
    return [] if told == ["a: broken", "b: broken"] and len(asked) == 3 else [f"self-test: of three notebooks {asked} were run and {told} told"]


def alone():
    """Holds the cache until this process ends; a second run on the machine waits here."""
    lock = open(Path(os.environ["COUNTERFAIR_CACHE"]) / "run.lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("waiting for another run of notebooks on this machine", file=sys.stderr, flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def each(paths: list, work) -> list:
    """Does the work for every path, whatever became of the one before; all that was found wrong."""
    found = []
    for path in paths:
        try:
            found += work(path) or []
        except Failure as failure:
            found.append(str(failure))
    return found


def rewrite(path: Path) -> None:
    nbformat.write(run(path), path)


def main(arguments) -> int:
    command, rest = arguments[0], [Path(a).resolve() for a in arguments[1:]]
    if command == "html":
        from render import html

        for path in rest[1:]:
            print(html(read(path), path, rest[0]))
        return 0
    if command not in ("execute", "check", "self-test"):
        raise SystemExit(__doc__)
    began, lock = time.monotonic(), alone()
    if command == "self-test":
        found = self_test(rest[0])
    else:
        found = each(rest, rewrite if command == "execute" else check)
        print(f"{len(rest)} notebooks in {(time.monotonic() - began) / 60:.1f} minutes; {len(found)} problems")
    for problem in found:
        print(problem, file=sys.stderr)
    lock.close()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
