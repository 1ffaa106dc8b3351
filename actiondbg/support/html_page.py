"""HTML pages and their parts; text is escaped, and only what is of type Html is not.

A page is self-contained, allows no scripts but its own, and follows the reader's light or dark
setting.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from html import escape
from importlib.resources import files
from typing import NamedTuple

_STYLE = """\
:root {
  --text: #1f2328; --ground: #ffffff; --soft: #f6f8fa; --line: #d1d9e0; --quiet: #59636e;
  --old: #ffebe9; --new: #dafbe1; --old-mark: #ffc1ba; --new-mark: #9be9a8;
  --good: #1a7f37; --bad: #cf222e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6edf3; --ground: #0d1117; --soft: #161b22; --line: #3d444d; --quiet: #9198a1;
    --old: #3c1618; --new: #12261e; --old-mark: #8e1519; --new-mark: #1b6e36;
    --good: #3fb950; --bad: #f85149;
  }
}
body {
  color: var(--text); background: var(--ground); margin: 2rem auto; padding: 0 1.5rem;
  max-width: 110rem; font: 15px/1.5 system-ui, sans-serif;
}
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
h1 code, pre, code, .diff td {
  font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 13px;
}
h1 code { font-size: 1.3rem; }
code { overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .8rem; overflow-x: auto; }
table { border-collapse: collapse; }
th, td { border: 1px solid var(--line); padding: .25rem .6rem; }
th, td { text-align: left; vertical-align: top; }
th { color: var(--quiet); font-weight: 600; }
details { margin: .5rem 0; } summary { cursor: pointer; }
.diff { width: 100%; table-layout: fixed; margin-top: .6rem; border: 1px solid var(--line); }
.diff td { white-space: pre-wrap; overflow-wrap: anywhere; border-width: 0 1px; padding: 0 .5rem; }
.diff td.sign { width: 1.2rem; user-select: none; color: var(--quiet); }
.diff tr.gap td { color: var(--quiet); background: var(--soft); }
.diff td.none { background: var(--soft); }
.diff td.old { background: var(--old); } .diff td.new { background: var(--new); }
mark { color: inherit; border-radius: 2px; }
td.old mark { background: var(--old-mark); } td.new mark { background: var(--new-mark); }
label { margin-right: 1rem; }
.wide { overflow-x: auto; } .quiet { color: var(--quiet); }
.controls, .more {
  margin: .5rem 0; display: flex; gap: .6rem; align-items: center; flex-wrap: wrap;
}
input, select, button {
  font: inherit; color: var(--text); background: var(--ground); border: 1px solid var(--line);
  border-radius: 4px; padding: .2rem .5rem;
}
.sortable th { padding: 0; white-space: nowrap; }
.sortable th button {
  border: 0; background: none; width: 100%; text-align: inherit; font-weight: 600;
  padding: .3rem .6rem; cursor: pointer;
}
th[aria-sort=ascending] button::after { content: " ▲"; font-size: 9px; }
th[aria-sort=descending] button::after { content: " ▼"; font-size: 9px; }
th.n, td.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.good { color: var(--good); } .bad { color: var(--bad); }
"""
# Tables whose rows are made by a script, and sorted by a click on a column's title.
TABLES = ("actiondbg.support", "table.js")


class Html(str):
    """HTML, in contrast to text."""

    __slots__ = ()


class Cell(NamedTuple):
    """A cell of a table."""

    content: str  # text, or HTML
    kind: str = ""  # its classes; ``n`` is a number, aligned to the right
    value: float | None = None  # by which a script sorts it; None to sort by the text
    style: str = ""  # CSS
    is_heading: bool = False  # whether it is the heading of its row


class TableRow(NamedTuple):
    """A row of a table with a name and classes."""

    cells: Sequence[Shown]
    name: str = ""  # to which links lead
    kind: str = ""  # its classes


Shown = str | int | Cell


def html(*parts: str) -> Html:
    """Return parts as one piece of HTML."""
    return Html("".join(part if isinstance(part, Html) else escape(part) for part in parts))


def element(name: str, *parts: str, kind: str = "") -> Html:
    """Return an element with its content, and with classes."""
    classes = f' class="{kind}"' if kind else ""
    return Html(f"<{name}{classes}>{html(*parts)}</{name}>")


def code(text: str) -> Html:
    """Return text in the font of code."""
    return element("code", text)


def pre(lines: Sequence[str]) -> Html:
    """Return lines as they are; nothing if there are none."""
    return element("pre", "\n".join(lines)) if lines else Html()


def joined(*parts: str) -> Html:
    """Return the parts that are not empty, each on lines of its own."""
    return Html("\n".join(html(part) for part in parts if part))


def section(title: str, *parts: str, name: str = "") -> Html:
    """Return a section of a page, with a name for links; nothing if its parts are empty."""
    body = joined(*parts)
    named = f' id="{name}"' if name else ""
    return Html(f"<section{named}>\n<h2>{escape(title)}</h2>\n{body}\n</section>" if body else "")


def table(
    rows: Iterable[Sequence[Shown] | TableRow], head: Sequence[Shown] = (), kind: str = ""
) -> Html:
    """Return a table; nothing without rows. Integers get separators, and zero is left empty."""
    lines = "".join(_line(row) for row in rows)
    top = "".join(_cell(title, "col") for title in head)
    named = f' class="{kind}"' if kind else ""
    above = f"<thead><tr>{top}</tr></thead>\n" if head else ""
    return Html(f"<table{named}>{above}<tbody>\n{lines}</tbody></table>" if lines else "")


def facts(rows: Iterable[tuple[str, str]]) -> Html:
    """Return a table of names and what each of them is."""
    return table((Cell(name, is_heading=True), value) for name, value in rows)


def _line(row: Sequence[Shown] | TableRow) -> str:
    name, kind = (row.name, row.kind) if isinstance(row, TableRow) else ("", "")
    cells: Sequence[Shown] = row.cells if isinstance(row, TableRow) else row
    attributes = f' id="{name}"' if name else ""
    attributes += f' class="{kind}"' if kind else ""
    return f"<tr{attributes}>{''.join(map(_cell, cells))}</tr>\n"


def _cell(shown: Shown, heading: str = "") -> str:
    """Return a cell; ``heading`` is ``col`` for that of a column."""
    if isinstance(shown, int):
        shown = Cell(f"{shown:,}" if shown else "", "n")
    cell = shown if isinstance(shown, Cell) else Cell(shown)
    scope = heading or ("row" if cell.is_heading else "")
    name, attributes = ("th", f" scope={scope}") if scope else ("td", "")
    attributes += f' class="{cell.kind}"' if cell.kind else ""
    attributes += f' data-value="{cell.value!r}"' if cell.value is not None else ""
    attributes += f' style="{cell.style}"' if cell.style else ""
    return f"<{name}{attributes}>{html(cell.content)}</{name}>"


def as_script(value: object) -> Html:
    """Return JSON without ``<``, which could end the script element."""
    text = json.dumps(value, separators=(",", ":"))
    return Html(text.replace("<", "\\u003c"))


def asset(package: str, name: str) -> Html:
    """Return an asset of a package: CSS, a script, or HTML."""
    return Html((files(package) / "assets" / name).read_text(encoding="utf-8"))


def html_page(
    title: str,
    *parts: str,
    style: str = "",
    data: object = None,
    scripts: Iterable[str] = (),
    maker: str = "",
) -> str:
    """Return a self-contained page.

    Args:
        title: plain text.
        parts: the page, below which its scripts run.
        style: CSS, which follows that of all pages.
        data: JSON for the scripts, in the element ``#data``.
        scripts: their texts; the page allows no others.
        maker: the command that makes such pages, by which they are found again.
    """
    script = "\n".join(scripts)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"'sha256-{digest}'" if script else "'none'"
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}"
    body = joined(
        *parts,
        Html(
            f'<script type="application/json" id="data">{as_script(data)}</script>'
            if data is not None
            else ""
        ),
        Html(f"<script>{script}</script>" if script else ""),
    )
    return f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="generator" content="actiondbg {maker}">
<title>{escape(title)}</title>
<style>
{_STYLE}{style}
</style>
</head>
<body>
{body}
</body>
</html>
"""


# --- drawings ---


_SIZE = 12  # of a character
_WIDE = 0.62  # the width of a character, in units of its size


def text_width(text: str) -> float:
    """Return about how wide a text is."""
    return len(text) * _SIZE * _WIDE


class Drawing:
    """An SVG picture under construction; ``style`` is CSS that the page lacks."""

    def __init__(self, title: str, kind: str, style: str = "") -> None:
        self._title = title
        self._kind = kind
        self._style = style
        self._parts: list[str] = []

    def rectangle(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        kind: str = "box",
        fill: str = "",
        hint: str = "",
    ) -> None:
        """Draw a rectangle; ``fill`` replaces the colour of its class, ``hint`` is its tooltip."""
        style = f' style="fill:{fill};stroke:none"' if fill else ""
        self._parts.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}" rx="3"{style}>{_hint(hint)}</rect>'
        )

    def text(self, x: float, y: float, text: str, *, kind: str = "", anchor: str = "start") -> None:
        """Write a text; ``anchor`` is ``start``, ``middle`` or ``end``."""
        shown = f' text-anchor="{anchor}"' if anchor != "start" else ""
        named = f' class="{kind}"' if kind else ""
        self._parts.append(f'<text x="{x:.1f}" y="{y:.1f}"{named}{shown}>{escape(text)}</text>')

    def line(self, x0: float, y0: float, x1: float, y1: float, *, kind: str) -> None:
        """Draw a straight line."""
        self.path(f"M{x0:.1f},{y0:.1f}L{x1:.1f},{y1:.1f}", kind=kind)

    def circle(self, x: float, y: float, radius: float, *, kind: str) -> None:
        """Draw a circle."""
        self._parts.append(f'<circle class="{kind}" cx="{x}" cy="{y}" r="{radius}"/>')

    def path(
        self, way: str, *, kind: str, color: str = "", width: float = 0, hint: str = ""
    ) -> None:
        """Draw a path, written as SVG does; ``color`` and ``width`` replace those of its class."""
        style = f' style="stroke:{color};stroke-width:{width:.2f}"' if color else ""
        self._parts.append(f'<path class="{kind}" d="{way}"{style}>{_hint(hint)}</path>')

    @contextmanager
    def link(self, target: str, hint: str) -> Generator[None]:
        """Let what the block draws lead to a place of the page."""
        self._parts.append(f'<a href="#{target}">')
        yield
        self._parts.append(f"{_hint(hint)}</a>")

    def curve(
        self,
        x0: float,
        y0: float,
        x1: float,
        y1: float,
        *,
        kind: str = "edge",
        color: str = "",
        width: float = 0,
        hint: str = "",
    ) -> None:
        """Draw a curve that is horizontal at both ends."""
        middle = (x0 + x1) / 2
        way = f"M{x0:.1f},{y0:.1f}C{middle:.1f},{y0:.1f} {middle:.1f},{y1:.1f} {x1:.1f},{y1:.1f}"
        self.path(way, kind=kind, color=color, width=width, hint=hint)

    def loop(
        self,
        x0: float,
        y0: float,
        x1: float,
        y1: float,
        bulge: float,
        *,
        kind: str = "edge",
        hint: str = "",
    ) -> None:
        """Draw a curve to the right of two points, which it leaves and reaches from the right."""
        out = max(x0, x1) + bulge
        way = f"M{x0:.1f},{y0:.1f}C{out:.1f},{y0:.1f} {out:.1f},{y1:.1f} {x1:.1f},{y1:.1f}"
        self.path(way, kind=kind, hint=hint)

    def svg(self, width: float, height: float) -> Html:
        """Return the picture as an SVG document, which HTML may contain too."""
        style = f"<style>\n{self._style}</style>\n" if self._style else ""
        return Html(
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{self._kind}" role="img" '
            f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">\n'
            f"<title>{escape(self._title)}</title>\n{style}" + "\n".join(self._parts) + "\n</svg>\n"
        )


def _hint(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""
