"""Self-contained HTML pages that allow no other scripts."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files

from actiondbg.support.html_page import html_page

_STYLE = """\
.wide { overflow-x: auto; }
.quiet { color: var(--quiet); }
td.n { text-align: right; }
.controls { margin: .5rem 0; display: flex; gap: .6rem; align-items: center; flex-wrap: wrap; }
input, select, button {
  font: inherit; color: var(--text); background: var(--ground); border: 1px solid var(--line);
  border-radius: 4px; padding: .2rem .5rem;
}
"""


def page(
    title: str,
    body: str,
    *,
    scripts: Sequence[str] = (),
    data: object = None,
    style: str = "",
) -> str:
    """Return a page.

    Args:
        title: the heading.
        body: HTML below it.
        scripts: the names of assets, run after the body.
        data: JSON for the scripts, in the element ``#data``.
        style: CSS.
    """
    script = "\n".join(asset(name) for name in scripts)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"script-src 'sha256-{digest}'" if scripts else "script-src 'none'"
    policy = f"default-src 'none'; style-src 'unsafe-inline'; {allowed}"
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    head += '<meta name="generator" content="actiondbg lineage">\n'
    parts = [f"<h1>{escape(title)}</h1>", body]
    if data is not None:
        parts.append(f'<script type="application/json" id="data">{as_script(data)}</script>')
    if scripts:
        parts.append(f"<script>{script}</script>")
    return html_page(title, _STYLE + style, "\n".join(filter(None, parts)), head=head)


def asset(name: str) -> str:
    """Return the text of an asset."""
    return (files(__spec__.parent) / "assets" / name).read_text(encoding="utf-8")


def table(head: Sequence[str], rows: Iterable[Sequence[str | int | float]]) -> str:
    """Return a table; numbers are aligned to the right."""
    top = "".join(f"<th scope=col>{escape(title)}</th>" for title in head)
    lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>\n" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead>\n<tbody>\n{lines}</tbody></table>"


def facts(values: Mapping[str, str]) -> str:
    """Return a table of facts."""
    rows = "".join(
        f"<tr><th scope=row>{escape(name)}</th><td>{escape(value)}</td></tr>\n"
        for name, value in values.items()
    )
    return f"<table>{rows}</table>"


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    return f"<td class=n>{value:,}</td>" if value else "<td class=n></td>"


def as_script(value: object) -> str:
    """Return JSON without ``<``, which could end the script element."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
