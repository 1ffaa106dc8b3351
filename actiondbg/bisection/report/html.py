"""report.html: the report as one self-contained page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from actiondbg.bisection.report import content
from actiondbg.bisection.report.content import Report, Text
from actiondbg.ir.html import highlighted, joined, marks, sides, token_colors
from actiondbg.support.counts import counted
from actiondbg.support.html_page import code, html_page

if TYPE_CHECKING:
    from actiondbg.ir.diff import Diff, Row

_WIDE = 100_000  # columns of a side; the browser breaks lines
_MOST_ROWS = 5_000  # of a diff
_STYLE = """\
.verdict { font-weight: 600; } .good { color: var(--good); } .bad { color: var(--bad); }
#side:not(:checked) ~ table.side, #unified:not(:checked) ~ table.unified { display: none; }
@media print { details { display: none; } }
"""


def html_report(report: Report) -> str:
    """Return the report as an HTML page."""
    words, name, inside = content.title(report)
    result = report.result
    entries_title, entries = content.other_entries(report)
    parts = [
        f"<h1>{escape(words)} {code(name)}{f' in {code(inside)}' if inside else ''}</h1>",
        f"<p>{escape(content.summary(report))}</p>",
        f"<p>{escape(result.message)}</p>" if result.message else "",
        _section("The action", _facts(content.action_facts(report))),
        _section(entries_title, _lines(entries)) if entries else "",
        _section("The action stack, innermost first", _lines(content.stack_lines(report))),
        _section("The crash", _crash(report)),
        _section("Changes of the IR", _diff(report.culprit.diff)),
        _section("The verdicts of the bisection", _verdicts(report)),
        _section("How to reproduce", _reproduce(report)),
        _section("IR", "".join(_text(text) for text in report.texts)),
        _section("The tool", _facts(content.tool_facts(report))),
        _section("Notes", _bullets(content.notes(report))),
        _section("Files", _table((), [(code(name), escape(what)) for name, what in report.files])),
    ]
    body = "\n".join(part for part in parts if part)
    return html_page(f"{words} {name}", f"{_STYLE}\n{token_colors()}", body)


def _section(title: str, body: str) -> str:
    return f"<section>\n<h2>{escape(title)}</h2>\n{body}\n</section>" if body else ""


def _facts(facts: Sequence[content.Fact]) -> str:
    rows = [
        (f"<b>{escape(what)}</b>", code(value) if is_code else escape(value))
        for what, value, is_code in facts
    ]
    return _table((), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; the cells are HTML."""
    lines = ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows]
    if not lines:
        return ""
    top = "<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>" if head else ""
    return f"<table>{top}\n" + "\n".join(lines) + "\n</table>"


def _lines(lines: Sequence[str]) -> str:
    return f"<pre>{escape(chr(10).join(lines))}</pre>" if lines else ""


def _crash(report: Report) -> str:
    sentence, lines = content.crash(report)
    return f"<p>{escape(sentence)}</p>{_lines(lines)}" if sentence else ""


def _bullets(lines: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>\n" for line in lines)
    return f"<ul>\n{items}</ul>" if items else ""


def _verdict(word: str) -> str:
    color = word if word in ("good", "bad") else "other"
    return f'<span class="verdict {color}">{escape(word)}</span>'


def _verdicts(report: Report) -> str:
    rows = [(escape(run), _verdict(word)) for run, word in content.verdicts(report)]
    return _table(("run", "verdict"), rows)


def _reproduce(report: Report) -> str:
    does = content.script_does(report)
    rows = [
        (
            str(number),
            _verdict(each.step.expected),
            _verdict(each.verdict),
            f"{escape(each.step.title)}<br>{code(command)}",
        )
        for number, (each, command) in enumerate(content.commands(report), 1)
    ]
    return (
        f"<p>{escape(report.strategy)} <code>repro.sh</code> {does}. "
        f"{escape(content.reproducer_status(report))}</p>\n"
        f"{_table(('', 'expected', 'judged', 'run'), rows)}"
    )


def _text(text: Text) -> str:
    size = counted(text.text.count(chr(10)), "line")
    form = ", in generic form, as it is not valid IR" if text.generic else ""
    cut = "<p>The rest is in the file.</p>" if text.is_cut else ""
    return (
        f"<details><summary><code>{escape(text.name)}</code>, {escape(text.title)} "
        f"({size}{form})</summary>\n<pre class=hl>{highlighted(text.text)}</pre>{cut}</details>\n"
    )


def _diff(diff: Diff | None) -> str:
    if diff is None:
        return "<p>The IR before and after it could not be compared: see the notes.</p>"
    if diff.is_empty:
        return "<p>It made no difference to the printed IR.</p>"
    rows = diff.side_by_side(_WIDE)
    cut = f"<p>Left out: {counted(len(rows) - _MOST_ROWS, 'more row')}.</p>"
    rows, cut = rows[:_MOST_ROWS], cut if len(rows) > _MOST_ROWS else ""
    # Radio buttons switch between the two tables without a script.
    return f"""\
<input type=radio name=view id=side checked><label for=side>side by side</label>
<input type=radio name=view id=unified><label for=unified>unified</label>
<table class="diff side hl"><tr><th>before</th><th>after</th></tr>
{"".join(_side_row(row) for row in rows)}</table>
<table class="diff unified hl">
{"".join(_unified_rows(rows))}</table>
{cut}"""


def _side_row(row: Row) -> str:
    if row.left is None and row.right is None:
        return "<tr class=gap><td colspan=2>...</td></tr>\n"
    left, right = _cells(row)
    return (
        f"<tr>{_cell(left, row.left, row.kind, '-')}{_cell(right, row.right, row.kind, '+')}</tr>\n"
    )


def _cell(highlighted: str, text: str | None, kind: str, side: str) -> str:
    if text is None:
        return "<td class=none></td>"
    changed = kind != " "
    name = {"-": "old", "+": "new"}[side]
    return f"<td class={name}>{highlighted}</td>" if changed else f"<td>{highlighted}</td>"


def _unified_rows(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the rows of a unified diff: in each run of changes, old lines before new ones."""
    old: list[str] = []
    new: list[str] = []
    for row in [*rows, None]:
        if row is not None and row.kind != " ":
            left, right = _cells(row)
            old += [left] if row.left is not None else []
            new += [right] if row.right is not None else []
            continue
        yield from (f"<tr><td class=sign>-<td class=old>{line}</td></tr>\n" for line in old)
        yield from (f"<tr><td class=sign>+<td class=new>{line}</td></tr>\n" for line in new)
        old, new = [], []
        if row is not None:
            yield _same_row(row)


def _same_row(row: Row) -> str:
    if row.left is None:
        return "<tr class=gap><td colspan=2>...</td></tr>\n"
    return f"<tr><td class=sign><td>{highlighted(row.left)}</td></tr>\n"


def _cells(row: Row) -> tuple[str, str]:
    """Return both sides of a row as HTML; the differences in a changed line are marked."""
    left, right = sides(row)
    if row.kind != "!":
        return joined(left), joined(right)
    marked = marks(left, right)
    return joined(left, marked[0]), joined(right, marked[1])
