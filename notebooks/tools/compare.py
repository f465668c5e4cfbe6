"""Whether two runs of a notebook show the same.

Words and whole numbers must be equal. What floating point allows on another processor is that a printed decimal falls on the other side of a
rounding boundary, and that a mark of a drawing lands a quarter of a pixel further: a decimal may differ by ONE unit in its last printed place and a
coordinate by ONE unit (a quarter of a pixel), in at most one in FIFTY numbers of an output (and in one, where it has fewer).
Anything else is a change: `python3 compare.py` shows both sides of that line.
"""

import difflib
import re
from decimal import Decimal

ALLOWED_SHARE = 50
DECIMAL = re.compile(r"[-−]?\d+\.\d+(?:e[-−+]?\d+)?|\d+(?:\.\d+)?")
COORDINATES = re.compile(r'(?<= )(?:x|y|x1|x2|y1|y2|cx|cy|r|width|height|points|d)="[^"]*"')


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


def without_colour(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def shown(output) -> dict:
    """What a reader sees of an output, by form."""
    if output.output_type == "stream":
        return {output.name: output.text}
    if output.output_type == "error":
        return {"error": output.evalue}
    return {mime: data if isinstance(data, str) else repr(data) for mime, data in output.data.items()}


def places(number: str) -> int:
    """Digits after the point."""
    return len(number.partition("e")[0].partition(".")[2])


def unit(number: str) -> Decimal:
    """One in the last printed place; none for whole numbers, which count things."""
    power = int(number.partition("e")[2] or 0)
    return Decimal(1).scaleb(power - places(number)) if places(number) else Decimal(0)


def same(before: str, now: str, drawing: bool = False) -> bool:
    """Equal up to what floating point allows."""
    if before == now:
        return True
    if drawing:
        marks = [COORDINATES.findall(text) for text in (before, now)]
        rest = [COORDINATES.sub("", text) for text in (before, now)]
        return same(*rest) and close("\n".join(marks[0]), "\n".join(marks[1]), lambda _: Decimal(1))
    return close(before, now, unit)


def close(before: str, now: str, allowed) -> bool:
    """The same words, and numbers of which few differ by what is allowed and none by more."""
    minus = lambda text: text.replace("−", "-")
    numbers = [DECIMAL.findall(minus(text)) for text in (before, now)]
    if DECIMAL.split(minus(before)) != DECIMAL.split(minus(now)):
        return False
    differ = [(old, new) for old, new in zip(*numbers) if old != new]
    within = all(places(old) == places(new) and abs(Decimal(old) - Decimal(new)) <= max(allowed(old), allowed(new)) for old, new in differ)
    return within and len(differ) <= max(1, len(numbers[0]) // ALLOWED_SHARE)


def drift(name: str, committed, fresh) -> list:
    """Every difference between what is in the file and what came out now."""
    found = []
    before, now = code_cells(committed), code_cells(fresh)
    for number, (old, new) in enumerate(zip(before, now), 1):
        old_outputs, new_outputs = [shown(o) for o in joined(old.outputs)], [shown(o) for o in joined(new.outputs)]
        lines = []
        if [sorted(o) for o in old_outputs] != [sorted(o) for o in new_outputs]:
            lines.append(f"    committed {[sorted(o) for o in old_outputs]}, now {[sorted(o) for o in new_outputs]}")
        for o, n in zip(old_outputs, new_outputs):
            for mime in [m for m in o if m in n and not same(o[m], n[m], drawing=m == "image/svg+xml")]:
                difference = difflib.unified_diff(o[mime].splitlines(), n[mime].splitlines(), "committed", "now", lineterm="", n=0)
                lines.append(f"    {mime}:")
                lines += ["    " + line[:200] for line in list(difference)[:30]]
        if lines:
            found.append("\n".join([f"{name}: code cell {number} shows something else now"] + lines))
    return found


def test() -> None:
    """Both sides of the line."""
    table = "".join(f" Full  {i}.{i:03d} ± 0.0{i}\n" for i in range(30))
    drawing = '<svg width="440" height="330">\n' + '<circle cx="100" cy="200" r="12" fill="#0072B2"/>\n' * 20 + "<text>0.25</text></svg>"
    alike = [
        ("nothing", "0.5417 ± 0.0138", "0.5417 ± 0.0138", False),
        ("one unit in the last place", "0.5417 ± 0.0138", "0.5418 ± 0.0138", False),
        ("a carry", "value 2.000, 1 person", "value 1.999, 1 person", False),
        ("one unit of a power", "9.9e-7", "1.0e-6", False),
        ("one of sixty", table, table.replace("7.007", "7.008"), False),
        ("a quarter of a pixel", drawing, drawing.replace('cx="100"', 'cx="101"', 1), True),
    ]
    changed = [
        ("two units in the last place", "0.5417 ± 0.0138", "0.5419 ± 0.0138", False),
        ("both numbers of two", "0.5417 ± 0.0138", "0.5418 ± 0.0139", False),
        ("three of sixty", table, re.sub(r"([789])\.00(\d)", lambda m: f"{m[1]}.0{int(m[2]) + 11}", table), False),
        ("a count", "1000 people", "1001 people", False),
        ("a digit fewer", "0.50", "0.5", False),
        ("a sign", "0.05 apart", "-0.05 apart", False),
        ("a word", "Full 0.5", "Ours 0.5", False),
        ("exactly zero no more", "0 exactly", "0.0001 ± 0.0001", False),
        ("half a pixel", drawing, drawing.replace('cx="100"', 'cx="102"', 1), True),
        ("every mark a quarter of a pixel", drawing, drawing.replace('cx="100"', 'cx="101"'), True),
        ("a colour", drawing, drawing.replace("0072B2", "0072B3"), True),
        ("a tick", drawing, drawing.replace("0.25", "0.35"), True),
        ("a mark fewer", drawing, drawing.replace("<circle", "<ellipse", 1), True),
    ]
    wrong = [f"{name}: counts as a change" for name, a, b, d in alike if not same(a, b, d)]
    wrong += [f"{name}: is not noticed" for name, a, b, d in changed if same(a, b, d)]
    if wrong:
        raise SystemExit("\n".join(wrong))
    print(f"compare: {len(alike)} roundings allowed, {len(changed)} changes noticed")


if __name__ == "__main__":
    test()
