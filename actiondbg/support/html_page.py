"""actiondbg's HTML pages; their colours follow the reader's light or dark setting."""

from __future__ import annotations

from html import escape

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
"""


def code(text: str) -> str:
    """Return text in the font of code."""
    return f"<code>{escape(text)}</code>"


def html_page(title: str, style: str, body: str, *, head: str = "") -> str:
    """Return a self-contained page.

    Args:
        title: plain text.
        style: CSS, which follows that of all pages.
        body: HTML.
        head: further elements of the head, each on its line.
    """
    return f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
{head}<title>{escape(title)}</title>
<style>
{_STYLE}{style}
</style>
</head>
<body>
{body}
</body>
</html>
"""
