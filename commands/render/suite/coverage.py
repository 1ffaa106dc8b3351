"""Coverage as text and JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import msgspec

from actiondbg.commands.render.tables import aligned
from actiondbg.suite.coverage import STATES, Counted, Coverage, Difference, Entry, Kind, State
from actiondbg.support.counts import counted

KINDS: tuple[Kind, ...] = ("pattern", "pass", "fold")
VERBS: dict[Kind, str] = {
    "pattern": "applied",
    "pass": "changed the IR",
    "fold": "folded",
}
NOUNS: dict[Kind, str] = {"pattern": "pattern", "pass": "pass", "fold": "operation"}
_WIDTH = 60  # characters of a reason, or of options
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


def _group(entries: Sequence[Entry], kind: Kind, state: State, most: int | None) -> Iterator[str]:
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


def _rank(entry: Entry) -> tuple[int, ...] | tuple[int, int, str]:
    if entry.state == "applied":
        return (entry.tests or entry.runs, entry.applied, entry.name)
    if entry.state == "tried":
        return (-entry.tried, -entry.runs_tried, entry.name)
    return (-entry.runs_loaded, 0, entry.name)


def _applied_row(entry: Entry) -> tuple[str, ...]:
    shortest = entry.examples[0] if entry.examples else None
    place = shortest and (shortest.test or shortest.command)
    counts = (f"{entry.tests:,}", f"{entry.applied:,}", f"{entry.tried:,}")
    return (*counts, _name(entry), place or "")


def _tried_row(entry: Entry) -> tuple[str, ...]:
    why = entry.reasons[0].text if entry.reasons else ""
    shown = textwrap.shorten(why, _WIDTH, placeholder=" ...")
    return (f"{entry.tried:,}", f"{entry.runs_tried:,}", _name(entry), shown)


def _never_row(entry: Entry) -> tuple[str, ...]:
    return (f"{entry.runs_loaded:,}", _name(entry), entry.root)


def _name(entry: Entry) -> str:
    name = entry.name
    if entry.root and entry.state != "never":
        name = f"{name} on {entry.root}"
    return name if len(name) <= _NAMES else f"{name[: _NAMES - 3]}..."


_COLUMNS = {
    "applied": (("tests", "applied", "tried", "name", "the shortest"), _applied_row),
    "tried": (("tried", "runs", "name", "most frequent reason"), _tried_row),
    "never": (("runs", "name", "on"), _never_row),
}


def difference_lines(found: Sequence[Difference], most: int | None) -> Iterator[str]:
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


def _described(one: Difference) -> str:
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


def difference_json(found: Sequence[Difference]) -> list[object]:
    return [{**msgspec.to_builtins(one), "gain": one.is_gain} for one in found]


def counted_text(counts: Sequence[Counted]) -> str:
    return "; ".join(f"{one.times:,}: {one.text or '(none)'}" for one in counts)
