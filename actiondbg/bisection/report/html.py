"""report.html: the report as one self-contained page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from actiondbg.bisection.report import content
from actiondbg.bisection.report.content import Report, Text
from actiondbg.ir.html import highlighted, marked_pieces, marks, sides, token_colors
from actiondbg.support.counts import counted
from actiondbg.support.html_page import (
    Html,
    code,
    element,
    facts,
    html,
    html_page,
    pre,
    section,
    table,
)

if TYPE_CHECKING:
    from actiondbg.ir.diff import Diff, Row

_WIDE = 100_000  # columns of a side; the browser breaks lines
_MOST_ROWS = 5_000  # of a diff
_STYLE = """\
.verdict { font-weight: 600; }
#side:not(:checked) ~ table.side, #unified:not(:checked) ~ table.unified { display: none; }
@media print { details { display: none; } }
"""


def html_report(report: Report) -> str:
    """Return the report as an HTML page."""
    words, name, inside = content.title(report)
    result = report.reproducer.result
    entries_title, entries = content.other_entries(report)
    where = html(" in ", code(inside)) if inside else ""
    return html_page(
        f"{words} {name}",
        element("h1", words, " ", code(name), where),
        element("p", content.summary(report)),
        element("p", result.message) if result.message else "",
        section("The action", _facts(content.action_facts(report))),
        section(entries_title, pre(entries)),
        section("The action stack, innermost first", pre(content.stack_lines(report))),
        section("The crash", *_crash(report)),
        section("Changes of the IR", _diff(report.culprit.diff)),
        section("The verdicts of the bisection", _verdicts(report)),
        section("How to reproduce", *_reproduce(report)),
        section("IR", *map(_text, report.texts)),
        section("The tool", _facts(content.tool_facts(report))),
        section("Notes", _bullets(content.notes(report))),
        section("Files", table((code(name), what) for name, what in report.reproducer.files)),
        style=f"{_STYLE}\n{token_colors()}",
        maker="bisect",
    )


def _facts(rows: Sequence[content.Fact]) -> Html:
    return facts((name, code(value) if is_code else value) for name, value, is_code in rows)


def _crash(report: Report) -> Iterator[Html]:
    sentence, lines = content.crash(report)
    if sentence:
        yield element("p", sentence)
        yield pre(lines)


def _bullets(lines: Sequence[str]) -> Html:
    return element("ul", *(element("li", line) for line in lines)) if lines else Html()


def _verdict(word: str) -> Html:
    color = word if word in ("good", "bad") else "other"
    return element("span", word, kind=f"verdict {color}")


def _verdicts(report: Report) -> Html:
    rows = [(run, _verdict(word)) for run, word in content.verdicts(report)]
    return table(rows, ("run", "verdict"))


def _reproduce(report: Report) -> tuple[Html, Html]:
    rows = [
        (
            str(number),
            _verdict(each.step.expected),
            _verdict(each.verdict),
            html(each.step.title, Html("<br>"), code(command)),
        )
        for number, (each, command) in enumerate(content.commands(report), 1)
    ]
    does = f" {content.script_does(report)}. {content.reproducer_status(report)}"
    about = element("p", report.reproducer.strategy, " ", code("repro.sh"), does)
    return about, table(rows, ("", "expected", "judged", "run"))


def _text(text: Text) -> Html:
    size = counted(text.text.count(chr(10)), "line")
    form = ", in generic form, as it is not valid IR" if text.generic else ""
    return element(
        "details",
        element("summary", code(text.name), f", {text.title} ({size}{form})"),
        element("pre", highlighted(text.text), kind="hl"),
        element("p", "The rest is in the file.") if text.is_cut else "",
    )


def _diff(diff: Diff | None) -> Html:
    if diff is None:
        return element("p", "The IR before and after it could not be compared: see the notes.")
    if diff.is_empty:
        return element("p", "It made no difference to the printed IR.")
    rows = diff.side_by_side(_WIDE)
    cut = f"<p>Left out: {counted(len(rows) - _MOST_ROWS, 'more row')}.</p>"
    rows, cut = rows[:_MOST_ROWS], cut if len(rows) > _MOST_ROWS else ""
    # Radio buttons switch between the two tables without a script.
    return Html(f"""\
<input type=radio name=view id=side checked><label for=side>side by side</label>
<input type=radio name=view id=unified><label for=unified>unified</label>
<table class="diff side hl"><tr><th>before</th><th>after</th></tr>
{"".join(_side_row(row) for row in rows)}</table>
<table class="diff unified hl">
{"".join(_unified_rows(rows))}</table>
{cut}""")


def _side_row(row: Row) -> str:
    if row.left is None and row.right is None:
        return "<tr class=gap><td colspan=2>...</td></tr>\n"
    left, right = _cells(row)
    old, new = ("", "") if row.kind == " " else (" class=old", " class=new")
    return f"<tr>{_cell(left, row.left, old)}{_cell(right, row.right, new)}</tr>\n"


def _cell(highlighted: str, text: str | None, attribute: str) -> str:
    return "<td class=none></td>" if text is None else f"<td{attribute}>{highlighted}</td>"


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
        return marked_pieces(left), marked_pieces(right)
    marked = marks(left, right)
    return marked_pieces(left, marked[0]), marked_pieces(right, marked[1])
