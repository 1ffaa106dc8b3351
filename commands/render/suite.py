"""The runs of a suite as text, and its coverage as text, JSON and one self-contained HTML page."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from html import escape
from pathlib import Path

import msgspec

from actiondbg.commands.render.tables import aligned
from actiondbg.suite.coverage import (
    STATES,
    CountedText,
    Coverage,
    CoverageChange,
    CoverageEntry,
    Kind,
    State,
)
from actiondbg.suite.runs import Overview, SuiteRun
from actiondbg.support.counts import counted, joined, size_text
from actiondbg.support.html_page import Html, code, html_page
from actiondbg.support.interrupts import signal_name

_SHOWN = 3  # programs or commands in a sentence
_WIDTH = 60  # characters of a command in a sentence, of a reason, or of options


def overview_lines(found: Overview, folder: Path, seconds: float | None = None) -> Iterator[str]:
    """Yield sentences about a suite; ``seconds``: the wall time of its driver."""
    tools = joined([f"{count:,} of {tool}" for tool, count in found.tools.items()] or [""])
    tests = f" in {counted(found.tests, 'test')}" if found.tests else ""
    size = f"{counted(found.actions, 'action')}, {size_text(found.size)}"
    took = "" if seconds is None else f", recorded in {seconds:.1f} s"
    if found.is_full:
        yield (
            f"No space is left in {folder}: processes may be missing. Free some, and record the "
            "rest with --resume."
        )
    if found.runs:
        yield f"{counted(found.runs, 'run')}{tests} in {folder} ({tools}): {size}{took}."
    elif not found.is_full:
        yield (
            f"No run in {folder}: no process of the command made an MLIR context that the agent "
            "observed; 'actiondbg doctor TOOL' examines a tool."
        )
    for why, count in found.missing.items():
        yield f"{counted(count, 'run')}: {why}."
    if found.forks:
        yield (
            f"{counted(len(found.forks), 'fork')} of recorded processes made contexts and "
            f"cannot be recorded: {_some(found.forks)}."
        )
    if found.lost:
        yield (
            f"{counted(len(found.lost), 'program')} ran without the agent, since LD_PRELOAD was "
            f"not in the environment: {_some(found.lost)}."
        )


def _some(words: Sequence[str]) -> str:
    shown = [textwrap.shorten(word, _WIDTH, placeholder=" ...") for word in words[:_SHOWN]]
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(shown) + more


def run_lines(runs: Sequence[SuiteRun]) -> list[str]:
    head = ("run", "end", "actions", "seconds", "test")
    rows = [
        (
            str(run.run),
            end_of(run),
            f"{run.actions:,}",
            "" if run.seconds is None else f"{run.seconds:.3f}",
            test_or_command(run),
        )
        for run in runs
    ]
    return aligned([head, *rows])


def test_or_command(run: SuiteRun) -> str:
    """Return the test of a run with the line of its RUN line, or its command without a test."""
    if run.test is None:
        return run.command
    return run.test if run.run_line is None else f"{run.test}:{run.run_line}"


def end_of(run: SuiteRun) -> str:
    """Return how a run ended, in a word or two."""
    if run.signal is not None:
        return signal_name(run.signal)
    return run.ended if run.status is None else f"exit {run.status}"


KINDS: tuple[Kind, ...] = ("pattern", "pass", "fold")
VERBS: dict[Kind, str] = {
    "pattern": "applied",
    "pass": "changed the IR",
    "fold": "folded",
}
NOUNS: dict[Kind, str] = {"pattern": "pattern", "pass": "pass", "fold": "operation"}
_NAMES = 72  # characters of a name


def coverage_lines(
    found: Coverage, kinds: Sequence[Kind], states: Sequence[State], most: int | None
) -> Iterator[str]:
    """Yield a coverage as text: the totals, then the entries of each kind and state.

    Of each of them, ``most`` are shown; None for all.
    """
    tests = f" of {counted(found.tests, 'test')}" if found.tests else ""
    yield f"{counted(found.runs, 'run')}{tests}"
    for kind in kinds:
        totals = found.totals(kind)
        if totals.all:
            never = f", {totals.never:,} never tried" if kind == "pattern" else ""
            yield (
                f"  {counted(totals.all, NOUNS[kind])}: {totals.applied:,} {VERBS[kind]} "
                f"({totals.percent:.1f} %), {totals.tried:,} tried in vain{never}"
            )
    yield from (f"  {each}" for each in missing_sentences(found))
    for kind in kinds:
        for state in states:
            yield from _group(found.of(kind, state), kind, state, most)


def missing_sentences(found: Coverage) -> Iterator[str]:
    """Yield sentences about what a coverage may lack."""
    if found.blind:
        yield (
            f"The sets of patterns of {counted(found.blind, 'run')} are unknown: patterns that "
            "were never tried are missing."
        )
    if found.missing:
        yield (
            f"Without {counted(found.missing, 'run')} that could not be recorded, or not "
            "completely: 'actiondbg suite list --missing' lists them."
        )


def _group(
    entries: Sequence[CoverageEntry], kind: Kind, state: State, most: int | None
) -> Iterator[str]:
    if not entries:
        return
    ranked = sorted(entries, key=_rank)
    shown = ranked if most is None else ranked[:most]
    yield ""
    yield f"{_title(kind, state)} ({len(entries):,})"
    head, row = _COLUMNS[state]
    left = {len(head) - 2, len(head) - 1, len(head)}
    rows = [head, *map(row, shown)]
    if any(entry.place for entry in shown):
        rows = [(*rows[0], "defined"), *((*row(entry), entry.place) for entry in shown)]
    for line in aligned(rows, left=left):
        yield f"  {line}"
    if len(shown) < len(ranked):
        yield f"  ... and {len(ranked) - len(shown):,} more (--all)"


def _title(kind: Kind, state: State) -> str:
    nouns = {"pattern": "Patterns", "pass": "Passes", "fold": "Operations"}[kind]
    words = {"applied": VERBS[kind], "tried": "tried in vain", "never": "never tried"}[state]
    end = ", by the fewest tests first" if state == "applied" else ", the most often first"
    return f"{nouns} {words}{end}"


def _rank(entry: CoverageEntry) -> tuple[int, ...] | tuple[int, int, str]:
    if entry.state == "applied":
        return (entry.tests or entry.runs, entry.applied, entry.name)
    if entry.state == "tried":
        return (-entry.tried, -entry.runs_tried, entry.name)
    return (-entry.runs_loaded, 0, entry.name)


def _applied_row(entry: CoverageEntry) -> tuple[str, ...]:
    shortest = entry.examples[0] if entry.examples else None
    place = shortest and (shortest.test or shortest.command)
    counts = (f"{entry.tests:,}", f"{entry.applied:,}", f"{entry.tried:,}")
    return (*counts, _name(entry), place or "")


def _tried_row(entry: CoverageEntry) -> tuple[str, ...]:
    why = entry.reasons[0].text if entry.reasons else ""
    shown = textwrap.shorten(why, _WIDTH, placeholder=" ...")
    return (f"{entry.tried:,}", f"{entry.runs_tried:,}", _name(entry), shown)


def _never_row(entry: CoverageEntry) -> tuple[str, ...]:
    return (f"{entry.runs_loaded:,}", _name(entry), entry.root)


def _name(entry: CoverageEntry) -> str:
    name = entry.name
    if entry.root and entry.state != "never":
        name = f"{name} on {entry.root}"
    return name if len(name) <= _NAMES else f"{name[: _NAMES - 3]}..."


_COLUMNS = {
    "applied": (("tests", "applied", "tried", "name", "the shortest"), _applied_row),
    "tried": (("tried", "runs", "name", "most frequent reason"), _tried_row),
    "never": (("runs", "name", "on"), _never_row),
}


def difference_lines(found: Sequence[CoverageChange], most: int | None) -> Iterator[str]:
    """Yield what differs between two suites, losses first."""
    if not found:
        yield "No entry differs."
        return
    for is_gain, title in ((False, "Lost"), (True, "Gained")):
        part = [one for one in found if one.is_gain == is_gain]
        if not part:
            continue
        yield f"{title} ({len(part):,})"
        shown = part if most is None else part[:most]
        rows = [
            (one.kind, _described(one), f"{one.before or 'absent'} -> {one.after or 'absent'}")
            for one in shown
        ]
        yield from (f"  {line}" for line in aligned(rows, left={0, 1, 2}))
        if len(shown) < len(part):
            yield f"  ... and {len(part) - len(shown):,} more (--all)"


def _described(one: CoverageChange) -> str:
    return f"{one.name} on {one.root}" if one.root else one.name


def coverage_json(
    found: Coverage, kinds: Sequence[Kind], states: Sequence[State]
) -> dict[str, object]:
    return {
        "runs": found.runs,
        "tests": found.tests,
        "runs_with_unknown_sets": found.blind,
        "runs_missing": found.missing,
        "totals": {
            kind: {
                **{state: len(found.of(kind, state)) for state in STATES},
                "percent": round(found.totals(kind).percent, 3),
            }
            for kind in kinds
        },
        "entries": [
            msgspec.to_builtins(entry)
            for entry in found.entries
            if entry.kind in kinds and entry.state in states
        ],
    }


def difference_json(found: Sequence[CoverageChange]) -> list[object]:
    return [{**msgspec.to_builtins(one), "gain": one.is_gain} for one in found]


def counted_text(counts: Sequence[CountedText]) -> str:
    return "; ".join(f"{one.times:,}: {one.text or '(none)'}" for one in counts)


# --- the page of a coverage -------------------------------------------------------------

_STYLE = """\
.bar { display: flex; height: .9rem; width: 22rem; max-width: 100%; border: 1px solid var(--line); }
.bar span { display: block; }
.bar .applied { background: var(--good); } .bar .tried { background: var(--old-mark); }
.entries td.n, .entries th.n { text-align: right; font-variant-numeric: tabular-nums; }
.entries th button { all: unset; cursor: pointer; }
.entries th button:focus-visible { outline: 2px solid currentColor; }
.entries th[aria-sort=ascending] button::after { content: " \\2191"; }
.entries th[aria-sort=descending] button::after { content: " \\2193"; }
.entries th { position: sticky; top: 0; background: var(--ground); white-space: normal; }
.entries th, .entries td { padding: .25rem .35rem; }
.entries td { max-width: 44rem; overflow-wrap: anywhere; }
.entries td.n, .entries td:nth-child(-n+3), .entries td:nth-child(5) code { overflow-wrap: normal; }
.entries td:nth-child(4) { min-width: 12rem; }
.entries details { margin: 0; } .entries summary { white-space: nowrap; }
.entries td.place { min-width: 9rem; } .entries td:nth-last-child(2) { min-width: 9rem; }
.entries pre { margin: .3rem 0; padding: .4rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.entries .copy { font: inherit; font-size: 12px; }
.state-applied { color: var(--good); } .state-tried, .state-never { color: var(--bad); }
form { margin: 1rem 0; display: flex; flex-wrap: wrap; gap: .8rem; align-items: baseline; }
.groups { display: flex; flex-wrap: wrap; gap: 0 4rem; align-items: flex-start; }
.groups td.n { text-align: right; font-variant-numeric: tabular-nums; }
.groups button { all: unset; cursor: pointer; text-decoration: underline; }
.groups .tall { max-height: 40rem; overflow: auto; }
"""
# Columns are sorted by numbers in data-value where a cell has one, else by text.
_SCRIPT = """\
const table = document.querySelector("table.entries");
const rows = [...table.tBodies[0].rows];
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
  rows.sort((a, b) => ascending ? order(a, b) : order(b, a));
  table.tBodies[0].append(...rows);
}));
const form = document.querySelector("form");
const shown = document.querySelector("#shown");
function filter() {
  const words = form.text.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let count = 0;
  for (const row of rows) {
    const { kind, state, dialect, file, text } = row.dataset;
    const fits = (form.kind.value === "" || form.kind.value === kind)
      && (form.state.value === "" || form.state.value === state)
      && (form.dialect.value === "" || form.dialect.value === dialect)
      && (!form.file?.value || form.file.value === file)
      && words.every((word) => text.includes(word));
    row.hidden = !fits;
    count += fits;
  }
  shown.textContent = `${count} of ${rows.length}`;
}
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
for (const button of document.querySelectorAll(".groups button"))
  button.addEventListener("click", () => {
    form.reset();
    for (const [name, value] of Object.entries(button.dataset))
      form[name].value = value;
    filter();
    form.scrollIntoView();
  });
table.addEventListener("click", (event) => {
  if (!event.target.matches(".copy")) return;
  const text = event.target.previousElementSibling;
  navigator.clipboard?.writeText(text.textContent).catch(() => {});
  getSelection().selectAllChildren(text);
});
filter();
"""
_ABOUT = (
    "A pattern or a fold applies if it reports success, a pass if it changes the IR. A pattern was "
    "never tried if runs had it in a set of patterns, and no run tried it on an operation. The "
    "folds of an operation without a fold hook always fail."
)
_ANY = "(any)"  # the dialect of a pattern of any operation, and of a pass
_UNKNOWN = "(unknown)"  # the file of a pattern without exactly one definition


def coverage_page(
    found: Coverage, kinds: Sequence[Kind], changed: Sequence[CoverageChange], title: str
) -> str:
    """Return a page about a coverage; ``changed`` is empty if no other suite is compared."""
    entries = [entry for kind in kinds for entry in found.of(kind)]
    tests = f" of {counted(found.tests, 'test')}" if found.tests else ""
    parts = [
        f"<h1>Coverage of {code(title)}</h1>",
        f"<p>{counted(found.runs, 'run')}{tests}. {escape(_ABOUT)}</p>",
        "".join(f"<p>{escape(each)}</p>" for each in missing_sentences(found)),
        _totals(found, kinds),
        _differences(changed),
        _groups(found, kinds),
        "<h2>All</h2>",
        _form(kinds, entries),
        _table(entries),
    ]
    return html_page(
        f"Coverage of {title}",
        Html("\n".join(part for part in parts if part)),
        style=_STYLE,
        scripts=(_SCRIPT,),
        maker="suite coverage",
    )


def _totals(found: Coverage, kinds: Sequence[Kind]) -> str:
    rows: list[str] = []
    for kind in kinds:
        totals = found.totals(kind)
        if not totals.all:
            continue
        widths = {"applied": totals.applied, "tried": totals.tried}
        bars = "".join(
            f'<span class={name} style="width: {100 * count / totals.all:.2f}%"></span>'
            for name, count in widths.items()
        )
        rows.append(
            f"<tr><th>{kind}</th><td>{totals.applied:,} of {totals.all:,} {VERBS[kind]}, "
            f"{totals.percent:.1f} %</td><td>{totals.tried:,} tried in vain</td>"
            f"<td>{totals.never:,} never tried</td><td><div class=bar>{bars}</div></td></tr>"
        )
    return f"<table>{''.join(rows)}</table>"


def _differences(changed: Sequence[CoverageChange]) -> str:
    if not changed:
        return ""
    rows = "".join(
        f"<tr><td>{'gained' if one.is_gain else 'lost'}</td><td>{one.kind}</td>"
        f"<td>{code(one.name)}</td><td>{code(one.root) if one.root else ''}</td>"
        f"<td>{one.before or 'absent'}</td><td>{one.after or 'absent'}</td></tr>"
        for one in changed
    )
    heads = "".join(f"<th>{name}</th>" for name in ("", "kind", "name", "on", "before", "now"))
    return (
        f"<h2>Differences ({len(changed):,})</h2>\n<details open><summary>all</summary>"
        f"<table><tr>{heads}</tr>{rows}</table></details>"
    )


def _groups(found: Coverage, kinds: Sequence[Kind]) -> str:
    """Return tables of patterns by dialect, and by file where that is known."""
    if "pattern" not in kinds:
        return ""
    patterns = found.of("pattern")
    tables = [_group_table(patterns, "dialect", _dialect)]
    if any(entry.file for entry in patterns):
        tables.append(_group_table(patterns, "file", _file))
    return f"<div class=groups>{''.join(tables)}</div>"


def _group_table(
    patterns: Sequence[CoverageEntry], name: str, of: Callable[[CoverageEntry], str]
) -> str:
    """Return a table of groups of patterns, the one with most that were not applied first."""
    counts: dict[str, dict[State, int]] = {}
    for entry in patterns:
        counts.setdefault(of(entry), dict.fromkeys(STATES, 0))[entry.state] += 1
    ranked = sorted(counts.items(), key=lambda each: (-each[1]["never"] - each[1]["tried"], each))
    rows = "".join(_group_row(name, value, states) for value, states in ranked)
    heads = "".join(f"<th>{head}</th>" for head in (name, *STATES, "share applied"))
    table = f"<div class=tall><table><tr>{heads}</tr>{rows}</table></div>"
    return f"<div><h2>Patterns by {name}</h2>\n{table}</div>"


def _group_row(name: str, value: str, states: dict[State, int]) -> str:
    cells = "".join(
        f'<td class=n><button data-kind=pattern data-{name}="{escape(value)}" '
        f"data-state={state}>{count:,}</button></td>"
        for state, count in states.items()
    )
    share = 100 * states["applied"] / sum(states.values())
    return f"<tr><td>{escape(value)}</td>{cells}<td class=n>{share:.0f} %</td></tr>"


def _dialect(entry: CoverageEntry) -> str:
    return entry.dialect or _ANY


def _file(entry: CoverageEntry) -> str:
    return entry.file or _UNKNOWN


def _form(kinds: Sequence[Kind], entries: Sequence[CoverageEntry]) -> str:
    dialects = sorted(set(map(_dialect, entries)))
    files = sorted({_file(entry) for entry in entries if entry.kind == "pattern"})
    return (
        "<form><label>filter <input name=text type=search></label>"
        f"{_choice('kind', kinds)}{_choice('state', STATES)}{_choice('dialect', dialects)}"
        f"{_choice('file', files) if files != [_UNKNOWN] else ''}<span id=shown></span></form>"
    )


def _choice(name: str, values: Sequence[str]) -> str:
    options = "".join(f'<option value="{escape(each)}">{escape(each)}</option>' for each in values)
    return (
        f'<label>{name} <select name={name}><option value="">all</option>{options}</select></label>'
    )


def _table(entries: Sequence[CoverageEntry]) -> str:
    heads = "".join(
        f"<th{' class=n' if name in _NUMBERS else ''}><button>{name}</button></th>"
        for name in _CELLS
    )
    rows = "\n".join(_row(entry) for entry in sorted(entries, key=_page_order))
    return (
        f"<table class=entries><thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>"
    )


def _page_order(entry: CoverageEntry) -> tuple[int, int, str, str]:
    return KINDS.index(entry.kind), -STATES.index(entry.state), entry.dialect, entry.name


def _row(entry: CoverageEntry) -> str:
    text = f"{entry.name} {entry.full_name} {entry.root} {entry.file}".lower()
    data = {
        "kind": entry.kind,
        "state": entry.state,
        "dialect": _dialect(entry),
        "file": _file(entry),
        "text": text,
    }
    attributes = "".join(f' data-{name}="{escape(value)}"' for name, value in data.items())
    cells = "".join(cell(entry) for cell in _CELLS.values())
    return f"<tr{attributes}>{cells}</tr>"


def _examples(entry: CoverageEntry) -> Iterator[str]:
    if not entry.examples:
        return
    yield f"<details><summary>{counted(len(entry.examples), 'run')}</summary>"
    for one in entry.examples:
        if one.test is not None:
            yield f"<div>{escape(one.test)}</div>"
        yield f"<pre>{escape(one.command)}</pre><button class=copy type=button>copy</button>"
    yield "</details>"


def _number(name: str, entry: CoverageEntry) -> str:
    value: int | None = getattr(entry, name.replace(" ", "_"))
    return (
        "<td class=n></td>" if value is None else f"<td class=n data-value={value}>{value:,}</td>"
    )


_NUMBERS = ("benefit", "tests", "runs", "runs tried", "runs loaded", "applied", "tried")
_CELLS: dict[str, Callable[[CoverageEntry], str]] = {  # of a row, by the headings
    "kind": lambda it: f"<td>{it.kind}</td>",
    "state": lambda it: f"<td class=state-{it.state}>{it.state}</td>",
    "dialect": lambda it: f"<td>{escape(it.dialect)}</td>",
    "name": lambda it: f"<td title='{escape(it.full_name)}'>{code(it.name)}</td>",
    "on": lambda it: f"<td>{code(it.root) if it.root else ''}</td>",
    "defined": lambda it: f"<td class=place>{escape(it.place)}</td>" if it.place else "<td></td>",
    **{name: partial(_number, name) for name in _NUMBERS},
    "why it failed; options": lambda it: (
        f"<td>{escape(counted_text([*it.reasons, *it.options]))}</td>"
    ),
    "to run": lambda it: f"<td>{''.join(_examples(it))}</td>",
}
