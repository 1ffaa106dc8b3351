"""Reports as self-contained HTML pages."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from actiondbg.kernels.results import roofline
from actiondbg.kernels.results.entry import Entry
from actiondbg.kernels.results.roofline import roofline_svg
from actiondbg.kernels.results.weights import HEAD, TEXT, TITLE, model_weights
from actiondbg.kernels.results.words import (
    Fact,
    bandwidth,
    digits,
    further_facts,
    milliseconds,
    notes,
    original_facts,
    summary_of,
)
from actiondbg.support.html_page import html_page

_ANCHOR = "d"
_STYLE = """\
.wide { overflow-x: auto; }
.kernels td.n, .kernels th.n { text-align: right; font-variant-numeric: tabular-nums; }
.kernels td { white-space: nowrap; } .kernels td.notes { white-space: normal; min-width: 16rem; }
.kernels th button { all: unset; cursor: pointer; }
.kernels th button:focus-visible { outline: 2px solid currentColor; }
.kernels th[aria-sort=ascending] button::after { content: " \\2191"; }
.kernels th[aria-sort=descending] button::after { content: " \\2193"; }
.kernels tr:target { background: var(--soft); outline: 2px solid var(--quiet); }
.kernels tr.best code { font-weight: 600; }
.kernels th { white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
"""
# Columns are sorted by numbers in data-value where a cell has one, else by text.
_SCRIPT = """\
for (const table of document.querySelectorAll("table.kernels")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.firstChild.addEventListener("click", () => {
    const ascending = head.getAttribute("aria-sort") === "descending"
      || (!head.hasAttribute("aria-sort") && !head.classList.contains("n"));
    heads.forEach((one) => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const key = (row) => row.cells[column].dataset.value;
    const text = (row) => row.cells[column].textContent;
    const order = (a, b) => key(a) !== undefined && key(b) !== undefined ? key(a) - key(b)
      : text(a).localeCompare(text(b), "en", { numeric: true });
    const isEmpty = (row) => text(row) === "";
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => isEmpty(a) - isEmpty(b) || (ascending ? order(a, b) : order(b, a)));
    table.tBodies[0].append(...rows);
  }));
}
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
    plot = roofline_svg(entries, _ANCHOR)
    wrong = [entry for entry in entries if entry.is_wrong]
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(summary_of(list(entries)).text)}.</p>",
        _section("Roofline", plot),
        _section("Dispatches", _table(entries)),
        _section(TITLE, _shares(entries)),
        _section("Wrong", "".join(map(_in_full, wrong))),
        f"<script>\n{_SCRIPT}</script>",
    ]
    body = "\n".join(part for part in parts if part)
    return html_page(title, f"{_STYLE}{roofline.STYLE}", body)


def _section(title: str, body: str) -> str:
    name = title.lower().replace(" ", "-")
    return f"<section id={name}>\n<h2>{escape(title)}</h2>\n{body}\n</section>" if body else ""


def _table(entries: Sequence[Entry]) -> str:
    tags = list(dict.fromkeys(name for entry in entries for name in entry.tags))
    best = _best(entries)
    heads = "".join(_head(name) for name in tags)
    heads += "".join(_head(name, is_number) for name, is_number in _HEADS)
    rows = [_row(index, entry, tags, index in best) for index, entry in enumerate(entries)]
    about = f"<p>{escape(_ABOUT)}</p>\n" if any(entry.seconds for entry in entries) else ""
    return (
        f"{about}<div class=wide><table class=kernels>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n"
        + "\n".join(rows)
        + "\n</tbody></table></div>"
    )


def _shares(entries: Sequence[Entry]) -> str:
    """Return the operations of a model by their share of its time."""
    weights = model_weights(entries)
    if not weights.weights:
        return ""
    heads = "".join(_head(name, at not in TEXT) for at, name in enumerate(HEAD))
    rows = (
        "".join(
            _cell(cell) if at in TEXT else f"<td class=n>{escape(cell)}</td>"
            for at, cell in enumerate(each.cells)
        )
        for each in weights.weights
    )
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f"<p>{escape(weights.summary)}</p>\n<div class=wide><table class=kernels>\n"
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _best(entries: Sequence[Entry]) -> set[int]:
    """Return the indices of the fastest right entries of operations with several."""
    by_operation: dict[str, list[tuple[float, int]]] = {}
    for index, entry in enumerate(entries):
        if entry.least is not None and not entry.is_wrong and not entry.is_above_peak:
            by_operation.setdefault(entry.operation, []).append((entry.least, index))
    return {min(found)[1] for found in by_operation.values() if len(found) > 1}


_HEADS = (
    ("dispatch", False),
    ("kind", False),
    ("provider", False),
    ("verified", False),
    ("ms", True),
    ("to ms", True),
    ("call ms", True),
    ("GFLOP/s", True),
    ("% of peak", True),
    ("% of roof", True),
    ("bytes/s", True),
    ("applied", False),
    ("notes", False),
)


def _head(name: str, is_number: bool = False) -> str:
    style = " class=n" if is_number else ""
    return f"<th scope=col{style}><button type=button>{escape(name)}</button></th>"


def _row(index: int, entry: Entry, tags: Sequence[str], is_best: bool) -> str:
    verdict = entry.verification.verdict
    color = "bad" if entry.is_wrong else "good" if verdict == "SUCCESS" else ""
    times = (entry.least, max(entry.seconds, default=None), entry.call_seconds)
    cells = [
        *(_cell(entry.tags.get(name, "")) for name in tags),
        f"<td><code>{escape(entry.dispatch)}</code></td>",
        _cell(entry.kind),
        _cell(entry.provider),
        f'<td class="{color}">{escape(verdict)}</td>',
        *(_number(time, "" if time is None else milliseconds(time)) for time in times),
        *(
            _number(value, "" if value is None else digits(value))
            for value in (entry.gflops, entry.percent_of_peak, entry.percent_of_roof)
        ),
        _number(entry.bandwidth, "" if entry.bandwidth is None else bandwidth(entry.bandwidth)),
        _cell(entry.compilation.config_applied),
        f"<td class=notes>{escape(notes(entry))}</td>",
    ]
    best = " class=best" if is_best else ""
    return f"<tr id={_ANCHOR}{index}{best}>{''.join(cells)}</tr>"


def _cell(text: str) -> str:
    return f"<td>{escape(text)}</td>"


def _number(value: float | None, text: str) -> str:
    data = "" if value is None else f' data-value="{value!r}"'
    return f"<td class=n{data}>{text}</td>"


def _in_full(entry: Entry) -> str:
    facts = [*original_facts(entry)[1:], *further_facts(entry)]
    rows = "".join(_fact(fact) for fact in facts if fact.text)
    lines = [*entry.verification.first, *entry.verification.map.splitlines()]
    shown = f"<pre>{escape(chr(10).join(lines))}</pre>" if lines else ""
    return f"<h3><code>{escape(entry.dispatch)}</code></h3>\n<table>{rows}</table>\n{shown}\n"


def _fact(fact: Fact) -> str:
    return f"<tr><th scope=row>{escape(fact.name)}</th><td>{escape(fact.text)}</td></tr>\n"
