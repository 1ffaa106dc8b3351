"""Questions about the past of a recorded session, and what its conversions tried in vain."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

import msgspec
import numpy as np
import numpy.typing as npt

from actiondbg import protocol
from actiondbg.analysis.actions import ActionList, ListedAction, Window, state_of
from actiondbg.analysis.attempts import Attempt, Group, PatternAttempts
from actiondbg.analysis.contrast import Contrast, Example, is_silent
from actiondbg.analysis.cycles import Applied, Cycle, find_cycle
from actiondbg.analysis.history import Event, EventKind, History
from actiondbg.analysis.legalization.explanation import Explanation, OtherFailure
from actiondbg.analysis.legalization.tree import (
    Conversion,
    Legalization,
    NestedAttempt,
    legalizations_of,
)
from actiondbg.breakpoints.selection import Selection, select
from actiondbg.breakpoints.targets import OperationGlob, parse_operation, parse_wanted
from actiondbg.errors import NoSuchUnit, NotRecorded, UsageError
from actiondbg.process.stop import Stop, ended_action, not_ended
from actiondbg.protocol import RESULTS, Statistic
from actiondbg.protocol.legalizations import ErrorReported
from actiondbg.protocol.tags import CONVERSION_TAG, FOLD_TAG, PASS_TAG, PATTERN_TAG, tag_of_kind
from actiondbg.recording.errors import lacks
from actiondbg.recording.format.arrow import Bools, Ints
from actiondbg.recording.session.action_query import ActionQuery
from actiondbg.recording.session.descriptions import ActionDescriptions
from actiondbg.recording.session.operation_changes import OperationChanges
from actiondbg.recording.session.position import Position
from actiondbg.recording.session.table_columns import ActionColumns, locations_of
from actiondbg.session.inspection.cursor import Cursor
from actiondbg.session.runnable_session import End, StatisticKind

if TYPE_CHECKING:
    from actiondbg.analysis.legalization.explanation import Explanation
    from actiondbg.ir.diff import Diff

_STREAM = 20_000  # newest changing actions searched for a cycle
_SHOWN = 8  # actions of a cycle whose diffs are made


class RecordedAttempts:
    """The attempts of a pattern (``PatternAttempts``), at sorted places; there may be millions."""

    def __init__(
        self, name: str, places: Ints, describe: ActionDescriptions, selected: bool
    ) -> None:
        self.name = name
        self.attempts: Sequence[Attempt] = _Described(places, describe)
        self.selected = selected
        self._places = places
        self._describe = describe

    def grouped(self) -> list[Group]:
        """Group the attempts by result and reason, the most frequent first."""
        keys = self._describe.outcome_keys(self._places)
        _, firsts, counts = np.unique(keys, return_index=True, return_counts=True)
        order = np.lexsort((firsts, -counts))
        return [self._group(int(firsts[at]), int(counts[at])) for at in order]

    def _group(self, first: int, count: int) -> Group:
        attempt = self.attempts[first]
        outcome = attempt.outcome
        return Group(
            result=outcome.result, reason="; ".join(outcome.reasons), count=count, first=attempt
        )


class _Described(Sequence[Attempt]):
    """Attempts, each described at its use."""

    def __init__(self, places: Ints, describe: ActionDescriptions) -> None:
        self._places = places
        self._describe = describe

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Attempt: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Attempt]: ...
    def __getitem__(self, index: int | slice) -> Attempt | Sequence[Attempt]:
        if isinstance(index, slice):
            return _Described(self._places[index], self._describe)
        return self._describe.attempt(int(self._places[index]))


def _statistics(actions: ActionColumns, counted: Bools) -> list[Statistic]:
    """Count the outcomes of some actions by tag and name; all greedy iterations have one row."""
    kind_of, kinds = actions.kinds
    outcomes = actions.words("outcome")

    def sums(which: Bools, values: npt.NDArray[Any] | None = None) -> list[Any]:
        weights = None if values is None else values[which]
        return np.bincount(kind_of[which], weights, len(kinds)).tolist()

    results = [sums(counted & (outcomes.codes == outcomes.code(result))) for result in RESULTS]
    changes = sums(counted, actions.change_counts)
    nanoseconds = sums(counted, actions.numbers("duration_ns"))
    is_timed = not actions.recording.header.imported
    rows: list[Statistic] = []
    for at, (tag, name) in enumerate(kinds):
        counts = {result: each[at] for result, each in zip(RESULTS, results, strict=True)}
        if not any(counts.values()):
            continue
        counts["succeeded"] += counts["unchanged"]
        rows.append(
            Statistic(
                tag=tag,
                name=name,
                attempts=counts["succeeded"] + counts["failed"] + counts["skipped"],
                changes=int(changes[at]),
                seconds=nanoseconds[at] / 1e9 if is_timed else None,
                **counts,
            )
        )
    return rows


class RecordedPast:
    """Answers questions about all actions up to the position of a session."""

    def __init__(
        self,
        describe: ActionDescriptions,
        query: ActionQuery,
        position: Position,
        cursor: Cursor,
    ) -> None:
        self._recording = describe.recording
        self._describe = describe
        self._actions = describe.actions
        self._line = describe.actions.line
        self._query = query
        self._position = position
        self._cursor = cursor

    def why_not(
        self, name: str, location: str | None = None, op_id: int | None = None
    ) -> RecordedAttempts:
        """Find all attempts of a pattern up to now; see ``Past.why_not``.

        Raises:
            NotRecorded: the recording is an import.
        """
        self._check_patterns()
        places = self._query.attempts(name, location)
        places = places[self._line.over(self._position.event)[places]]
        if op_id is not None:
            places = places[self._actions.numbers("operation")[places] == op_id]
        selected = location is not None or op_id is not None
        return RecordedAttempts(name, places, self._describe, selected)

    def contrast(
        self, attempts: PatternAttempts, others: Sequence[Example] = ()
    ) -> Contrast | None:
        """Return None if every failure has a reason.

        Raises NotRecorded otherwise: what was around an operation is not recorded.
        """
        if not any(is_silent(each) for each in (group.first for group in attempts.grouped())):
            return None
        raise self._recording.needs_tool("Comparing failures with successes")

    def explain(self, target: str | None = None) -> Explanation:
        """Explain why a conversion failed, or why it left operations; see ``Past.explain``.

        Raises:
            NotRecorded: the recording is an import.
        """
        self._check_patterns()
        conversions = RecordedConversions(self._describe)
        if target is None:
            found = conversions.explain(self._position.behind)
            if found.failed is None and found.other is None and self._position.state == "exited":
                found.status = self._recording.ending.status or 0
                if (crash := self._position.stop.crash) is not None:
                    found.other = OtherFailure(kind="crash", message=crash)
            return found
        wanted = parse_wanted(target)
        if isinstance(wanted, OperationGlob):
            attempts = Selection(f"tag:apply-pattern and op:{wanted.glob}")
            return conversions.explain(self._here, target, self._query.places(attempts))
        id = self._cursor.operation_id(wanted)
        patterns = self._actions.is_tag(PATTERN_TAG)
        places = np.flatnonzero(patterns & (self._actions.numbers("operation") == id))
        return conversions.explain(self._here, f"@{id}", places)

    @contextlib.contextmanager
    def recorded(self, end: End = "now") -> Generator[Path]:
        """Yield the path of the recording, of the whole run; see ``Past.recorded``."""
        yield Path(self._recording.path)

    def excerpt_before(self, stop: Stop, message: protocol.GetExcerpt) -> protocol.Excerpt:
        """Raise NotRecorded: lines of recorded IR do not tell their operations."""
        raise self._recording.needs_tool("Comparing lines of IR")

    def operation_changes(self, end: End = "now") -> list[OperationChanges]:
        """Return the operations that were made and erased up to now, and up to an end.

        There is nothing for the beginning and the end of the run, whose IR is recorded.

        Raises:
            UsageError: the action is before this stop, or is not recorded.
        """
        here = self._position.stop.ordinal
        found: list[OperationChanges] = []
        if self._position.state == "stopped":
            now = self._describe.operations.changed_by(self._position.event)
            found += [now] if now.begun else []
        if isinstance(end, int):
            if end < here:
                raise UsageError(f"The action #{end} is before this stop, at #{here}.")
            self._actions.check_recorded(end)
            place = self._actions.place(end)
            found.append(self._describe.operations.changed_by(int(self._line.ends[place])))
        return found

    def history(self, target: str = "cursor") -> History:
        """Return the history of an operation up to now; see ``Past.history``."""
        id = self._cursor.operation_id(parse_operation(target))
        changes, operations = self._describe.changes, self._describe.operations
        rows = changes.life(id, exact=True)
        rows = rows[changes.made(rows, self._position.event)]
        is_to_come = changes.is_kind(changes.of(id)[:1], "inserted").any() and not len(rows)
        if operations.row(id) is None or is_to_come:
            raise NoSuchUnit(f"There is no operation @{id} in this run up to now.")
        events = [self._life_event(int(row), id) for row in rows]
        if not events or events[0].kind != "created":
            events.insert(0, _parsed(id))
        replaced = changes.is_kind(rows, "replaced")
        became = changes.numbers("by")[rows[replaced]]
        return History(
            id=id,
            op=operations.name(id) or "",
            events=events,
            made_from=self._replaced_by(id),
            became=list(dict.fromkeys(became[became > 0].tolist())),
        )

    def _life_event(self, row: int, id: int) -> Event:
        culprit = self._describe.culprit(int(self._describe.changes.places[row]))
        kind = self._describe.changes.words("kind").of(row)
        return Event(
            ordinal=culprit.ordinal,
            tag=culprit.tag,
            name=culprit.name,
            kind=cast("EventKind", "created" if kind == "inserted" else kind),
            message=self._describe.operations.sentence(row),
            guess=culprit.guess,
            id=id,
            pass_name=self._pass_of(culprit),
        )

    def _pass_of(self, culprit: protocol.Culprit) -> str:
        """Return the pass around an action that is no pass itself; empty if there is none."""
        if not culprit.ordinal or culprit.tag == PASS_TAG:
            return ""
        tags, names = self._actions.words("tag"), self._actions.words("name")
        around = self._line.stack(self._actions.place(culprit.ordinal))
        return next((names.of(each) or "" for each in around if tags.of(each) == PASS_TAG), "")

    def _replaced_by(self, id: int) -> list[int]:
        """Return the operations that an operation has replaced up to now."""
        changes = self._describe.changes
        rows = np.flatnonzero(changes.numbers("by") == id)
        rows = rows[changes.made(rows, self._position.event)]
        return list(dict.fromkeys(changes.numbers("operation")[rows].tolist()))

    def diff(self, ordinal: int | None = None, module: bool = False) -> Diff:
        """Compare the IR before and after an action, as far as recorded; see ``Past.diff``.

        Raises:
            UsageError: the action has not begun, or is not over.
            NotRecorded: the IR is not recorded; that of the module only for actions on the module.
        """
        if ordinal is None:
            ordinal = ended_action(self._position.stop, "recording")
        self._check_over(ordinal)
        action = self._describe.reference(self._actions.place(ordinal))
        return self._describe.ir.difference(ordinal, module).of_action(action)

    def _check_over(self, ordinal: int) -> None:
        self._actions.check_recorded(ordinal)
        place = self._actions.place(ordinal)
        if self._line.begins[place] > self._position.event:
            raise UsageError(
                f"The action #{ordinal} has not begun here: continue to its end first."
            )
        if not self._line.is_over(place, self._position.event):
            raise not_ended(ordinal, self._position.stop)

    def cycles(self) -> Cycle | None:
        """Find the actions that repeat at the end of the past; see ``Past.cycles``.

        Raises:
            NotRecorded: the recording is an import.
        """
        self._check_patterns()
        attempts = self._actions.is_tag(PATTERN_TAG) | self._actions.is_tag(FOLD_TAG)
        changed = (
            self._line.over(self._position.event) & self._actions.numbers("changed") & attempts
        )
        all_changed = np.flatnonzero(changed)
        newest = all_changed[-_STREAM:]
        found = find_cycle(self._applied(newest), cut=len(newest) < len(all_changed))
        if found is None or not self._recording.header.has_ir:
            return found
        diffs = [self.diff(one.ordinal) for one in found.round[:_SHOWN]]
        return msgspec.structs.replace(found, diffs=diffs)

    def _applied(self, places: Ints) -> list[Applied]:
        tags, names, ops, functions = (
            self._actions.words(name).take(places) for name in ("tag", "name", "op", "function")
        )
        ordinals = self._actions.numbering.ordinals(places).tolist()
        locations = locations_of(self._actions, places)
        ids = self._actions.numbers("operation")[places].tolist()
        columns = zip(ordinals, tags, names, ops, locations, functions, ids, strict=True)
        return [
            Applied(
                ordinal=ordinal,
                tag=tag or "",
                name=name or "",
                op=op,
                location=location,
                function=function,
                id=id or None,
            )
            for ordinal, tag, name, op, location, function, id in columns
        ]

    def statistics(self, kind: StatisticKind | None = None) -> list[protocol.Statistic]:
        """Count the outcomes of actions by tag and name up to now; see ``Past.statistics``.

        Raises:
            UsageError: there is no such kind.
            NotRecorded: the recording is an import, and the kind is not passes.
        """
        tag = None if kind is None else tag_of_kind(kind)
        if kind not in (None, "pass"):
            self._check_patterns()
        rows = _statistics(self._actions, self._line.over(self._position.event))
        return rows if tag is None else [row for row in rows if row.tag == tag]

    def _check_patterns(self) -> None:
        """Raise NotRecorded if there can be no pattern and no fold."""
        recording = self._recording
        if recording.header.imported:
            raise NotRecorded(lacks(recording.path, recording.header.imported, "patterns or folds"))

    # --- actions before and after the stop ---

    def actions(
        self,
        spec: str | None = None,
        condition: str | None = None,
        *,
        changed: bool = False,
        first: int | None = None,
        count: int = 20,
    ) -> ActionList:
        """List actions of the run, before and after the stop; see ``Past.actions``."""
        outcome = "changed" if changed else None
        wanted = select(self._query.names, spec, condition, outcome=outcome)
        places = self._query.places(wanted)
        # A live session counts actions where they are found, too.
        events = (self._line.ends if wanted.at_ends else self._line.begins)[places]
        places = places[np.argsort(events, kind="stable")]
        later = places
        before = int(np.count_nonzero(events <= self._here))
        if first is not None:
            later = places[self._actions.numbering.ordinals(places) >= first]
            before = len(places) - len(later)
        begin = Window(first=first, count=count).begin(before, len(places))
        listed = (later if first is not None else places[begin:])[:count]
        return ActionList(
            actions=[self._listed(int(place)) for place in np.sort(listed)],
            earlier=begin,
            later=len(places) - begin - len(listed),
        )

    def passes(self) -> list[ListedAction]:
        """List the passes of the run in their order, before and after the stop."""
        return [
            self._listed(int(place)) for place in np.flatnonzero(self._actions.is_tag(PASS_TAG))
        ]

    @property
    def _here(self) -> int:
        """The event of the stop; at the end of the run, the last one."""
        self._position.check_open()
        return self._line.last if self._position.state == "exited" else self._position.event

    def _listed(self, place: int) -> ListedAction:
        is_over = self._line.is_over(place, self._line.last)
        is_timed = is_over and not self._recording.header.imported
        begin, end = int(self._line.begins[place]), int(self._line.ends[place])
        return ListedAction(
            **self._describe.frame_fields(place),
            state="over" if self._position.state == "exited" else state_of(begin, end, self._here),
            outcome=self._describe.outcome(place) if is_over else None,
            change_count=int(self._actions.change_counts[place]) if is_over else 0,
            seconds=int(self._actions.numbers("duration_ns")[place]) / 1e9 if is_timed else None,
        )


def _parsed(id: int) -> Event:
    """Return the creation of an operation by the parser."""
    return Event(
        ordinal=0, tag="", name="the parser", kind="created", message=None, guess=False, id=id
    )


_MOST = 1000  # operations that conversions left
_FAILED_AT = re.compile(r"failed to legalize operation '([^']*)'")


class RecordedConversions:
    """Reads the attempts of patterns in dialect conversions."""

    def __init__(self, describe: ActionDescriptions) -> None:
        self._describe = describe
        self._actions = describe.actions
        self._line = describe.actions.line

    def explain(
        self, event: int, target: str | None = None, wanted: Ints | None = None
    ) -> Explanation:
        """Return the conversions that failed up to an event, and those that left an operation.

        Args:
            event: the position of the session.
            target: what was asked for, as the user wrote it; None for failures only.
            wanted: the places of the attempts on operations that are asked for.
        """
        is_conversion = self._actions.is_tag(CONVERSION_TAG)
        over = self._line.over(event)
        outcomes = self._actions.words("outcome")
        failed = outcomes.codes == outcomes.code("failed")
        conversions: list[Conversion] = []
        for place in np.flatnonzero(is_conversion & (self._line.begins <= event)).tolist():
            if failed[place] or (not over[place] and wanted is None):
                conversions.append(self._failed(place, event))
            elif over[place] and wanted is not None:
                left = self._left(place, wanted, over)
                if left:
                    conversions.append(self._conversion(place, left, failed=False))
        explanation = Explanation(target=target, conversions=conversions, is_recorded=True)
        if target is None:
            is_pass = self._actions.is_tag(PASS_TAG) & over
            explanation.take_other(self._other_failure(np.flatnonzero(is_pass & failed)))
        return explanation

    def _other_failure(self, passes: Ints) -> OtherFailure | None:
        """Return the failure of the innermost of the passes that failed."""
        if not len(passes):
            return None
        place = int(passes[-1])
        message = "; ".join(self._describe.reasons(place)[:1])
        return OtherFailure(kind="pass", message=message, culprit=self._describe.culprit(place))

    def _conversion(
        self, place: int, legalizations: list[Legalization], *, failed: bool | None
    ) -> Conversion:
        stack = self._line.stack(place)
        tags, names = self._actions.words("tag"), self._actions.words("name")
        passes = [each for each in stack if tags.of(each) == PASS_TAG]
        reference = self._describe.reference(place)
        errors = self._describe.outcome(place).reasons if failed else []
        return Conversion(
            ordinal=reference.ordinal,
            full=None,
            pass_name=names.of(passes[0]) if passes else None,
            function=reference.function,
            failed=failed,
            legalizations=legalizations,
            errors=[ErrorReported(text=text, location=None, notes=[]) for text in errors],
        )

    def _failed(self, place: int, event: int) -> Conversion:
        """Return a failed conversion with what it tried for the operation at which it failed; of a
        conversion that has not ended at an event, for the newest operation.
        """
        over = self._line.over(event)
        top = self._line.depth(place) + 1
        inside = np.arange(place + 1, self._line.last_inside(place) + 1)
        inside = inside[self._line.begins[inside] <= event]
        patterns = inside[self._actions.is_tag(PATTERN_TAG)[inside]]
        depths = self._line.depths[patterns]
        newest = patterns[depths == top]
        found = self._conversion(place, [], failed=True if over[place] else None)
        names = {match[1] for each in found.errors if (match := _FAILED_AT.search(each.text))}
        if not len(newest):
            return self._without_attempt(found, names)
        operation = self._actions.numbers("operation")[newest]
        # Back to the first attempt of the newest operation.
        other = np.flatnonzero(operation != operation[-1])
        first = newest[other[-1] + 1] if len(other) else newest[0]
        trees = self._trees(patterns[patterns >= first], over)
        if names and trees[-1].op not in names:
            return self._without_attempt(found, names)
        found.legalizations = trees[-1:]
        return found

    def _without_attempt(self, found: Conversion, names: set[str]) -> Conversion:
        found.legalizations = [
            Legalization(id=None, op=name, location=None, legality=None, legalized=False)
            for name in sorted(names)
        ]
        return found

    def _left(self, place: int, wanted: Ints, over: Bools) -> list[Legalization]:
        """Return the wanted operations for which a conversion tried patterns in vain."""
        last = self._line.last_inside(place)
        inside = wanted[(wanted > place) & (wanted <= last)]
        inside = inside[self._line.depths[inside] == self._line.depth(place) + 1]
        operations = self._actions.numbers("operation")[inside]
        begins = np.flatnonzero(np.diff(operations, prepend=-1))
        groups = np.split(inside, begins[1:])[:_MOST] if len(inside) else []
        trees = [self._trees(self._nested(group), over)[0] for group in groups]
        return [each for each in trees if not each.legalized]

    def _nested(self, attempts: Ints) -> Ints:
        """Return the attempts in some attempts, and these."""
        ranges: list[Ints] = [
            np.arange(at, self._line.last_inside(at) + 1) for at in attempts.tolist()
        ]
        places: Ints = np.concatenate(ranges)
        return places[self._actions.is_tag(PATTERN_TAG)[places]]

    def _trees(self, places: Ints, over: Bools) -> list[Legalization]:
        return legalizations_of(
            NestedAttempt(self._line.depth(place), self._describe.attempt(place), bool(over[place]))
            for place in places.tolist()
        )
