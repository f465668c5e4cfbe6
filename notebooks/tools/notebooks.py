"""Executes the notebooks, compares them with what is committed, and renders them.

    notebooks.py execute NOTEBOOK…      runs each from top to bottom and writes its outputs into it
    notebooks.py check NOTEBOOK…        runs each and fails where an output is not the one in the file
    notebooks.py html FOLDER NOTEBOOK…  renders what is in the files
    notebooks.py self-test FOLDER       shows that broken cells and drifted outputs are noticed
"""

import difflib
import fcntl
import os
import re
import sys
import time
from html import escape
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

KERNEL = "rust"
# The first cell builds the library and all it stands on: minutes, or an hour on a machine that is busy.
CELL_SECONDS = 7200


class Failure(Exception):
    """A notebook that is not as it should be; its text is all a reader needs."""


def read(path: Path):
    return nbformat.read(path, as_version=4)


def execute(notebook, folder: Path, allow_errors: bool = False):
    """Runs a notebook in place; outputs are put in a form that does not depend on how the kernel cut them up."""
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        startup_timeout=300,
        kernel_name=KERNEL,
        allow_errors=allow_errors,
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    for cell in code_cells(notebook):
        cell.outputs = joined(cell.outputs)
    notebook.metadata.pop("widgets", None)
    return notebook


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def joined(outputs):
    """Pieces of one stream become one output; how many pieces there are is chance."""
    whole = []
    for output in outputs:
        if output.output_type == "stream" and whole and whole[-1].output_type == "stream" and whole[-1].name == output.name:
            whole[-1].text += output.text
        else:
            whole.append(output)
    return whole


def run(path: Path):
    """A fresh, executed copy; a cell that fails is a Failure in the words of the cell."""
    notebook = read(path)
    for cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    began = time.monotonic()
    try:
        execute(notebook, path.parent)
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


def without_colour(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def shown(output) -> dict:
    """What a reader sees of an output, by form."""
    if output.output_type == "stream":
        return {output.name: output.text}
    if output.output_type == "error":
        return {"error": output.evalue}
    return {mime: data if isinstance(data, str) else repr(data) for mime, data in output.data.items()}


def drift(name: str, committed, fresh) -> list:
    """Every difference between what is in the file and what came out now."""
    found = []
    before, now = code_cells(committed), code_cells(fresh)
    for number, (old, new) in enumerate(zip(before, now), 1):
        old_outputs, new_outputs = [shown(o) for o in joined(old.outputs)], [shown(o) for o in new.outputs]
        if old_outputs == new_outputs:
            continue
        lines = [f"{name}: code cell {number} shows something else now"]
        if [sorted(o) for o in old_outputs] != [sorted(o) for o in new_outputs]:
            lines.append(f"    committed {[sorted(o) for o in old_outputs]}, now {[sorted(o) for o in new_outputs]}")
        for o, n in zip(old_outputs, new_outputs):
            for mime in [m for m in o if m in n and o[m] != n[m]]:
                difference = difflib.unified_diff(o[mime].splitlines(), n[mime].splitlines(), "committed", "now", lineterm="", n=0)
                lines.append(f"    {mime}:")
                lines += ["    " + line[:200] for line in list(difference)[:30]]
        found.append("\n".join(lines))
    return found


def check(path: Path) -> list:
    committed = read(path)
    if any(cell.execution_count != number for number, cell in enumerate(code_cells(committed), 1)):
        return [f"{path.name}: the committed cells were not executed once each, from top to bottom"]
    return drift(path.name, committed, run(path))


def html(path: Path, folder: Path) -> Path:
    """One file that needs no network: formulas become MathML, pictures and style are inside."""
    from latex2mathml.converter import convert
    from nbconvert import HTMLExporter

    notebook = read(path)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = mathematics(cell.source, convert)
    exporter = HTMLExporter(template_name="lab", mathjax_url="", require_js_url="")
    exporter.exclude_input_prompt = exporter.exclude_output_prompt = True
    body, _ = exporter.from_notebook_node(notebook, resources={"metadata": {"name": title(notebook, path)}})
    body = described(body, notebook)
    # Links between notebooks lead to their rendered neighbours.
    body = re.sub(r'href="([^":/]+)\.ipynb"', r'href="\1.html"', body)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / path.with_suffix(".html").name
    target.write_text(body.replace("</head>", f"<style>{STYLE}</style>\n</head>", 1), encoding="utf-8")
    return target


STYLE = """
body { max-width: 62rem; margin: 0 auto !important; }
.jp-RenderedHTMLCommon p, .jp-RenderedHTMLCommon li { max-width: 46rem; }
.jp-OutputArea-output, .jp-InputArea-editor, .jp-RenderedMarkdown { overflow-x: auto; }
.jp-OutputArea-output pre { word-break: normal; overflow-wrap: anywhere; }
.jp-RenderedSVG svg, .jp-RenderedSVG img { max-width: 100%; height: auto; }
.jp-RenderedHTMLCommon table { margin-left: 0; font-size: 0.85rem; width: max-content; max-width: 58rem; }
.jp-RenderedHTMLCommon table:has(th:nth-child(3)) [style*="right"] { white-space: nowrap; }
.jp-RenderedHTMLCommon table:not(:has(th:nth-child(3))) { max-width: 100%; }
@media (max-width: 40rem) { .jp-RenderedSVG img.wide { max-width: none; } }
.jp-RenderedHTMLCommon caption { padding: 0.3rem 0; color: #444; }
math { font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", math, serif; font-size: 1.08em; }
math[display="block"] { margin: 0.8rem 0; }
"""


def described(body: str, notebook) -> str:
    """Pictures with their titles for who cannot see them, and marked when they are too wide to be shrunk to a telephone."""
    outputs = [output.data for cell in code_cells(notebook) for output in cell.outputs if "data" in output]
    pictures = iter([data for data in outputs if "image/svg+xml" in data])

    def named(_) -> str:
        data = next(pictures)
        width = int(re.search(r'width="(\d+)"', data["image/svg+xml"])[1])
        words = escape(data["text/plain"].strip().splitlines()[0])
        return f'<img{" class=wide" if width > 600 else ""} alt="{words}"'

    return re.sub(r'<img alt="No description has been provided for this image"', named, body)


def title(notebook, path: Path) -> str:
    first = next((cell.source for cell in notebook.cells if cell.cell_type == "markdown"), "")
    return first.splitlines()[0].lstrip("# ").strip() if first.startswith("#") else path.stem


def mathematics(text: str, convert) -> str:
    """Formulas between dollars as MathML; code keeps its dollars."""
    pieces = re.split(r"(```.*?```|`[^`\n]*`)", text, flags=re.S)
    for i in range(0, len(pieces), 2):
        piece = re.sub(r"\$\$(.+?)\$\$", lambda m: convert(m[1].strip(), display="block"), pieces[i], flags=re.S)
        pieces[i] = re.sub(r"\$([^$\n]+?)\$", lambda m: convert(m[1].strip()), piece)
    return "".join(pieces)


BROKEN = {
    "a panic": 'panic!("this cell is broken")',
    "a failed assertion": "assert_eq!(1 + 1, 3)",
    "an error that was not expected": 'Err::<f64, _>("a level has no data").or_stop()',
    "an error at the end of a cell": 'Err::<Estimate, _>("a level has no data")',
    "code that does not compile": "let x: u32 = \"text\";",
}


def self_test(folder: Path) -> list:
    """Cells that must fail do, in the words of the library; a cell after them works; a changed output is drift."""
    new = nbformat.v4.new_code_cell
    start = ':dep counterfair = { path = "..", default-features = false, features = ["report"] }\nuse counterfair::kernel::numeric::Estimate;\nuse counterfair::report::notebook::*;\nEstimate::of(&[1.0, 2.0, 4.0])'
    # Failure takes the variables and the imports of a cell with it, as in a notebook; each cell stands on its own.
    imports = "use counterfair::kernel::numeric::Estimate; use counterfair::report::notebook::*;\n"
    cells = [new(start)] + [new(imports + source) for source in BROKEN.values()] + [new(imports + "Estimate::of(&[1.0, 2.0, 4.0])")]
    notebook = execute(nbformat.v4.new_notebook(cells=cells), folder, allow_errors=True)
    wrong = []
    for (name, _), cell in zip(BROKEN.items(), notebook.cells[1:]):
        if not any(o.output_type == "error" for o in cell.outputs):
            wrong.append(f"self-test: {name} did not fail its cell: {[shown(o) for o in cell.outputs]}")
        elif "error" in name and "error: a level has no data\n" not in [o.get("text") for o in cell.outputs]:
            wrong.append(f"self-test: {name} does not read like the library's errors: {[shown(o) for o in cell.outputs]}")
    first, last = notebook.cells[0], notebook.cells[-1]
    if not first.outputs or [shown(o) for o in first.outputs] != [shown(o) for o in last.outputs]:
        wrong.append(f"self-test: a good cell shows {[shown(o) for o in first.outputs]} and later {[shown(o) for o in last.outputs]}")
    altered = nbformat.from_dict(notebook)
    if drift("self-test", notebook, altered):
        wrong.append("self-test: a notebook is said to differ from itself")
    altered.cells[0].outputs[0].data["text/plain"] = "2.34 ± 1.7 (3 units)"
    if len(drift("self-test", notebook, altered)) != 1:
        wrong.append("self-test: a changed output is not noticed")
    before, after = nbformat.from_dict(notebook), nbformat.from_dict(notebook)
    for version, height in [(before, "10.0"), (after, "10.1")]:
        version.cells[0].outputs[0].data["image/svg+xml"] = f'<svg width="20" height="{height}"/>'
    if len(drift("self-test", before, after)) != 1:
        wrong.append("self-test: a picture that is drawn otherwise is not noticed")
    altered.cells[0].outputs = []
    if len(drift("self-test", notebook, altered)) != 1:
        wrong.append("self-test: a lost output is not noticed")
    if not wrong:
        print(f"self-test: {len(BROKEN)} broken cells failed, a good one did not, drift was noticed")
    return wrong


def alone():
    """Holds the cache until this process ends; a second run on the machine waits here."""
    lock = open(Path(os.environ["COUNTERFAIR_CACHE"]) / "run.lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("waiting for another run of notebooks on this machine", file=sys.stderr, flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def main(arguments) -> int:
    command, rest = arguments[0], [Path(a).resolve() for a in arguments[1:]]
    lock = None if command == "html" else alone()
    found = []
    try:
        if command == "execute":
            for path in rest:
                nbformat.write(run(path), path)
        elif command == "check":
            for path in rest:
                found += check(path)
        elif command == "html":
            for path in rest[1:]:
                print(html(path, rest[0]))
        elif command == "self-test":
            found = self_test(rest[0])
        else:
            raise SystemExit(__doc__)
    except Failure as failure:
        found.append(str(failure))
    for problem in found:
        print(problem, file=sys.stderr)
    if lock is not None:
        lock.close()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
