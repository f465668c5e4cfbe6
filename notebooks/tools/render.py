"""One HTML file for each notebook, that needs no network and no font of the reader's: formulas are drawings, pictures and style are inside."""

import base64
import re
from html import escape
from pathlib import Path

import ziamath
from nbconvert import HTMLExporter

STYLE = """
body { max-width: 62rem; margin: 0 auto !important; }
.jp-RenderedHTMLCommon p, .jp-RenderedHTMLCommon li { max-width: 46rem; }
.jp-OutputArea-output, .jp-InputArea-editor, .jp-RenderedMarkdown { overflow-x: auto; }
.jp-OutputArea-output pre { word-break: normal; overflow-wrap: anywhere; }
.jp-RenderedHTMLCommon table { margin-left: 0; font-size: 0.85rem; width: max-content; max-width: 58rem; }
.jp-RenderedHTMLCommon table:has(th:nth-child(3)) [style*="right"] { white-space: nowrap; }
.jp-RenderedHTMLCommon table:not(:has(th:nth-child(3))) { max-width: 100%; }
figure.drawing { margin: 0.5rem 0; }
figure.drawing div { overflow-x: auto; }
figure.drawing img { max-width: 100%; height: auto; }
figure.drawing figcaption { max-width: 46rem; color: #444; font-size: 0.87rem; line-height: 1.4; }
svg.formula { overflow: visible; }
p.formula, div.formula { overflow-x: auto; padding: 0.3rem 0; }
@media (max-width: 45rem) {
  .jp-Cell, .jp-Notebook { padding: 0 !important; }
  figure.drawing img { max-width: none; }
  .jp-RenderedHTML, figure.drawing div, div.formula {
    background: linear-gradient(to right, #fff 30%, transparent) 0 0 / 3rem 100% no-repeat local,
      linear-gradient(to left, #fff 30%, transparent) 100% 0 / 3rem 100% no-repeat local,
      linear-gradient(to right, #0003, transparent) 0 0 / 0.9rem 100% no-repeat scroll,
      linear-gradient(to left, #0003, transparent) 100% 0 / 0.9rem 100% no-repeat scroll;
  }
}
"""


def html(notebook, path: Path, folder: Path) -> Path:
    ziamath.config.svg2 = False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = mathematics(cell.source)
    exporter = HTMLExporter(template_name="lab", mathjax_url="", require_js_url="")
    exporter.log.setLevel("ERROR")
    exporter.exclude_input_prompt = exporter.exclude_output_prompt = True
    body, _ = exporter.from_notebook_node(notebook, resources={"metadata": {"name": title(notebook, path)}})
    body = with_captions(body, notebook)
    # Links between notebooks lead to their rendered neighbours.
    body = re.sub(r'href="([^":/]+)\.ipynb"', r'href="\1.html"', body)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / path.with_suffix(".html").name
    target.write_text(body.replace("</head>", f"<style>{STYLE}</style>\n</head>", 1), encoding="utf-8")
    return target


CAPTION = re.compile(r'<g class="caption" data-height="(\d+)">.*?</g>', re.S)


def with_captions(body: str, notebook) -> str:
    """Captions leave the drawings and become text, which keeps its size when a drawing is shrunk; drawings get words for who cannot see them."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    outputs = [output.data for cell in cells for output in cell.outputs if "data" in output]
    pictures = iter([data for data in outputs if "image/svg+xml" in data])

    def figure(_) -> str:
        data = next(pictures)
        svg, words = data["image/svg+xml"], data["text/plain"].strip()
        for below in CAPTION.finditer(svg):
            svg = shorter(svg, int(below[1]))
        svg = CAPTION.sub("", svg)
        caption = words.split("\n\n")[0].replace("\n", " ") if 'class="caption"' in data["image/svg+xml"] else ""
        coded = base64.b64encode(svg.encode()).decode()
        image = f'<img alt="{escape(words)}" src="data:image/svg+xml;base64,{coded}">'
        return f'<figure class="drawing"><div>{image}</div><figcaption>{escape(caption)}</figcaption></figure>'

    return re.sub(r'<img alt="No description has been provided for this image"[^>]*>', figure, body)


def shorter(svg: str, by: int) -> str:
    """The outer drawing without the room for its caption."""
    width, height = (int(n) for n in re.search(r'width="(\d+)" height="(\d+)"', svg).groups())
    now = height - by
    svg = svg.replace(f'height="{height}"', f'height="{now}"', 1)
    return svg.replace(f'viewBox="0 0 {width} {height}"', f'viewBox="0 0 {width} {now}"', 1)


def title(notebook, path: Path) -> str:
    first = next((cell.source for cell in notebook.cells if cell.cell_type == "markdown"), "")
    return first.splitlines()[0].lstrip("# ").strip() if first.startswith("#") else path.stem


def mathematics(text: str) -> str:
    """Formulas between dollars as drawings with their source as words; code keeps its dollars."""
    pieces = re.split(r"(```.*?```|`[^`\n]*`)", text, flags=re.S)
    for i in range(0, len(pieces), 2):
        piece = re.sub(r"\$\$(.+?)\$\$", lambda m: drawn(m[1], block=True), pieces[i], flags=re.S)
        pieces[i] = re.sub(r"\$([^$\n]+?)\$", lambda m: drawn(m[1], block=False), piece)
    return "".join(pieces)


def drawn(source: str, block: bool) -> str:
    source = " ".join(source.split())
    formula = ziamath.Latex(source, size=17 if block else 15.5, inline=not block)
    attributes = f'class="formula" role="img" aria-label="{escape(source)}" style="vertical-align: {formula.getyofst():.2f}px"'
    svg = re.sub(r"\s*\n\s*", "", formula.svg()).replace("<svg ", f"<svg {attributes} ", 1)
    return f'<div class="formula">{svg}</div>' if block else svg
