"""Reports as self-contained HTML pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from actiondbg.kernels.results import roofline
from actiondbg.kernels.results.entry import Entry
from actiondbg.kernels.results.roofline import roofline_svg
from actiondbg.kernels.results.weights import HEAD, TEXT, TITLE, model_weights
from actiondbg.kernels.results.words import (
    bandwidth,
    digits,
    further_facts,
    milliseconds,
    notes,
    original_facts,
    summary_of,
)
from actiondbg.support.html_page import (
    TABLES,
    Cell,
    Html,
    Row,
    Shown,
    asset,
    code,
    element,
    facts,
    html_page,
    joined,
    pre,
    section,
    table,
)

_KIND = "kernels"  # the class of tables that are sorted
_STYLE = """\
.kernels td { white-space: nowrap; } .kernels td.notes { white-space: normal; min-width: 16rem; }
.kernels tr:target { background: var(--soft); outline: 2px solid var(--quiet); }
.kernels tr.best code, .kernels .bad { font-weight: 600; }
"""
_ABOUT = (
    "Times are those of one call: the least of all repetitions, measured in turn with the other "
    "dispatches, with warm caches. The peak and the bandwidth are those of one core, as measured; "
    "the bandwidth is that of the smallest cache with room for the operands and the result, or of "
    "the memory. A call that does nothing takes the time of the column call ms, which the others "
    "include. The fastest configuration of each operation is bold."
)


def to_html(entries: Sequence[Entry], title: str = "Kernels") -> str:
    """Return a report: a roofline plot, a table of all dispatches, and the wrong ones in full."""
    wrong = [entry for entry in entries if entry.is_wrong]
    return html_page(
        title,
        element("h1", title),
        element("p", summary_of(entries)),
        section("Roofline", roofline_svg(entries), name="roofline"),
        section(
            "Dispatches",
            element("p", _ABOUT) if any(entry.seconds for entry in entries) else "",
            _table(entries),
            name="dispatches",
        ),
        _shares(entries),
        section("Wrong", *map(_in_full, wrong), name="wrong"),
        style=f"{_STYLE}{roofline.STYLE}",
        scripts=[asset(*TABLES), f"sortTables({_KIND!r});"],
        maker="kernels",
    )


def _table(entries: Sequence[Entry]) -> Html:
    tags = list(dict.fromkeys(name for entry in entries for name in entry.tags))
    best = _best(entries)
    rows = (_row(index, entry, tags, index in best) for index, entry in enumerate(entries))
    return element("div", table(rows, (*tags, *_HEADS), _KIND), kind="wide")


def _shares(entries: Sequence[Entry]) -> Html:
    weights = model_weights(entries)
    if not weights.weights:
        return Html()

    def aligned(cells: Sequence[str]) -> list[Cell]:
        return [Cell(cell, "" if at in TEXT else "n") for at, cell in enumerate(cells)]

    rows = (aligned(each.cells) for each in weights.weights)
    shares = element("div", table(rows, aligned(HEAD), _KIND), kind="wide")
    return section(TITLE, element("p", weights.summary), shares, name="shares")


def _best(entries: Sequence[Entry]) -> set[int]:
    """Return the indices of the fastest right entries of operations with several."""
    by_operation: dict[str, list[tuple[float, int]]] = {}
    for index, entry in enumerate(entries):
        if entry.least is not None and not entry.is_wrong and not entry.is_above_peak:
            by_operation.setdefault(entry.operation, []).append((entry.least, index))
    return {min(found)[1] for found in by_operation.values() if len(found) > 1}


_HEADS = (
    "dispatch",
    "kind",
    "provider",
    "verified",
    *(
        Cell(name, "n")
        for name in (
            "ms",
            "to ms",
            "call ms",
            "GFLOP/s",
            "% of peak",
            "% of roof",
            "bytes/s",
        )
    ),
    "applied",
    "notes",
)


def _row(index: int, entry: Entry, tags: Sequence[str], is_best: bool) -> Row:
    verdict = entry.verification.verdict
    color = "bad" if entry.is_wrong else "good" if verdict == "SUCCESS" else ""
    times = (entry.least, max(entry.seconds, default=None), entry.call_seconds)
    cells: list[Shown] = [
        *(entry.tags.get(name, "") for name in tags),
        code(entry.dispatch),
        entry.kind,
        entry.provider,
        Cell(verdict, color),
        *(_number(time, milliseconds) for time in times),
        _number(entry.gflops, digits),
        _number(entry.percent_of_peak, digits),
        _number(entry.percent_of_roof, digits),
        _number(entry.bandwidth, bandwidth),
        entry.compilation.config_applied,
        Cell(notes(entry), "notes"),
    ]
    return Row(cells, f"{roofline.ANCHOR}{index}", "best" if is_best else "")


def _number(value: float | None, words: Callable[[float], str]) -> Cell:
    return Cell("" if value is None else words(value), "n", value)


def _in_full(entry: Entry) -> Html:
    shown = [*original_facts(entry)[1:], *further_facts(entry)]
    return joined(
        element("h3", code(entry.dispatch)),
        facts((fact.name, fact.text) for fact in shown if fact.text),
        pre([*entry.verification.first, *entry.verification.map.splitlines()]),
    )
