"""Recorded actions as messages of the protocol: stops, frames, outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import msgspec
import numpy as np

from actiondbg import protocol
from actiondbg.analysis.attempts import Attempt
from actiondbg.analysis.pipeline import is_adaptor
from actiondbg.process.stop import Stop, exit_of
from actiondbg.protocol.tags import CONVERSION_TAG, ITERATION_TAG, PASS_TAG, PATTERN_TAG
from actiondbg.recording.format.arrow import Bools, Ints
from actiondbg.recording.session.operation_changes import (
    ChangeColumns,
    OperationColumns,
    OperationState,
)
from actiondbg.recording.session.recorded_ir import ImportedIR, RecordedIR
from actiondbg.recording.session.table_columns import ActionColumns, TableColumns, location_of
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

_WRITTEN = (0, 0)  # bytes of output: not recorded
_MOST_CHANGES = 100  # of a stop, as of the agent's


class ActionDescriptions:
    """Describes the actions of a recording as messages of the protocol."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.actions = ActionColumns(recording)
        self.changes = ChangeColumns(self.actions)
        self.operations = OperationColumns(self.changes)
        self.ir = (ImportedIR if recording.header.imported else RecordedIR)(self.operations)
        self._reasons = TableColumns(recording, "reasons")

    # --- stops and frames ---

    def stop(
        self,
        event: int,
        reason: protocol.Reason,
        *,
        breakpoints: Sequence[int] = (),
        message: str | None = None,
        culprit: protocol.Culprit | None = None,
    ) -> Stop:
        """Return the stop at an event; see ``Stop`` for the other fields."""
        place, when = self.actions.line.at(event)
        cursor = self.operations.cursor(self.actions.line.stack(place), event)
        stop = Stop(
            when=when,
            reason=reason,
            event=event,
            nth=int(self.actions.numbers("nth")[place]),
            cursor=cursor,
            breakpoints=list(breakpoints),
            message=message,
            culprit=culprit,
            unnamed=self.actions.words("unnamed").of(place),
            thread=self.thread(place),
            threads=self._thread_count,
            contexts=self._context_count,
            pass_run=self._pass_run(place),
            **self.frame_fields(place),
        )
        return self._with_outcome(stop, place) if when == "after" else stop

    def thread(self, place: int) -> str:
        """Return the name of the thread of an action."""
        return f"t{self.actions.numbers('thread')[place]}"

    def _pass_run(self, place: int) -> protocol.PassRun | None:
        """Return the run of the innermost pass around an action."""
        names, runs = self.actions.words("name"), self._pass_runs
        around = next((each for each in self.actions.line.stack(place) if runs[each]), None)
        if around is None:
            return None
        begun = runs[: place + 1]
        same = names.codes[: around + 1][begun[: around + 1]] == names.codes[around]
        return protocol.PassRun(
            name=names.of(around) or "",
            number=int(np.count_nonzero(same)),
            begun=int(np.count_nonzero(begun)),
        )

    @cached_property
    def _pass_runs(self) -> Bools:
        """A mask of the actions that are runs of passes, adaptors aside."""
        return self.actions.is_tag(PASS_TAG) & ~self.actions.words("name").where(is_adaptor)

    @cached_property
    def _thread_count(self) -> int:
        return len(np.unique(self.actions.numbers("thread")))

    @cached_property
    def _context_count(self) -> int:
        return max(1, len(np.unique(self.actions.words("context").codes)))

    @cached_property
    def _has_several_mlirs(self) -> bool:
        return len(np.unique(self.actions.words("mlir").codes)) > 1

    def contexts(self, event: int) -> list[protocol.MLIRContext]:
        """Return the contexts in which actions had run at an event."""
        here = self.actions.line.at(event).place
        column = self.actions.words("context")
        codes = column.codes[: self.actions.line.begun(event)]
        found: list[protocol.MLIRContext] = []
        used: list[int] = np.unique(codes[codes >= 0]).tolist()
        for code in used:
            places = np.flatnonzero(codes == code)
            found.append(
                protocol.MLIRContext(
                    name=column.values[code],
                    thread=self.thread(int(places[-1])),
                    state="stopped" if column.codes[here] == code else "idle",
                    actions=len(places),
                    mlir=self.actions.words("mlir").of(int(places[-1])),
                )
            )
        return found

    def _with_outcome(self, stop: Stop, place: int) -> Stop:
        """Return a stop after an action, with outcome and changes."""
        rows = self.changes.by(place, int(self.actions.line.ends[place]))
        outcome = self.outcome(place)
        return msgspec.structs.replace(
            stop,
            outcome=outcome,
            skipped=outcome.result == "skipped",
            changes=self.operations.described(rows[:_MOST_CHANGES]),
            change_count=int(self.actions.change_counts[place]),
        )

    def stop_at_end(self) -> Stop:
        """Return the stop at the end of the recording."""
        ending, count, last = self.recording.ending, self.actions.count, self.actions.line.last
        if ending.ended == "unknown":
            message = f"The log ends after {counted(count, 'pass')}."
            return Stop(when="exit", reason="exited", event=last, actions=count, message=message)
        if ending.ended == "killed":
            return Stop(when="exit", reason="killed", event=last, message=self.recording.cut)
        if ending.ended == "exit":
            status = ending.status or 0
            exited = protocol.Exited(actions=count, status=status, written=_WRITTEN, event=last)
            return exit_of(status, True, exited, None)
        number = ending.signal or 0
        place = None if ending.ordinal is None else self.actions.place(ending.ordinal)
        died_in = None if place is None else self.reference(place)
        crashed = protocol.Crashed(
            signal=number,
            message=ending.message,
            written=_WRITTEN,
            event=last,
            ordinal=died_in.ordinal if died_in else 0,
            tag=died_in.tag if died_in else "",
            name=died_in.name if died_in else "",
            op=died_in.op if died_in else None,
            depth=0 if place is None else self.actions.line.depth(place),
        )
        stop = exit_of(-number, True, None, crashed)
        if number:
            return stop
        # The signal is not known.
        message = (stop.message or "").replace("crashed, with status 0,", "crashed")
        return msgspec.structs.replace(stop, status=None, message=message)

    def frames(self, event: int) -> list[protocol.Frame]:
        """Return the stack of actions at an event, the innermost first."""
        return [
            protocol.Frame(index=index, units=self.units(place, event), **self.frame_fields(place))
            for index, place in enumerate(self.actions.stack(event))
        ]

    def action(self, event: int, index: int) -> protocol.Action:
        """Return the action of a frame in full."""
        place = self.actions.stack(event)[index]
        fields = self.frame_fields(place)
        full_name = self.actions.words("full_name").of(place) or ""  # of a pass, its class
        labels = self.actions.words("labels").of(place)
        return protocol.Action(
            **fields,
            index=index,
            units=self.units(place, event),
            full_name=fields["name"] if fields["tag"] == PASS_TAG else full_name,
            labels=labels.split(",") if labels else [],
            iteration=self._iteration(place),
            text="",
            full_location=self.operations.location(self.actions.operation(place)),
            when=self.actions.line.at(event).when if index == 0 else "during",
        )

    def reference(self, place: int) -> protocol.ActionRef:
        """Return the reference to an action."""
        return protocol.ActionRef(
            ordinal=self.actions.ordinal(place),
            tag=self.actions.words("tag").of(place) or "",
            name=self.actions.words("name").of(place) or "",
            op=self.actions.words("op").of(place),
            location=location_of(self.actions, place),
            function=self.actions.words("function").of(place),
            context=self.actions.words("context").of(place),
            mlir=self.actions.words("mlir").of(place) if self._has_several_mlirs else None,
        )

    def frame_fields(self, place: int) -> dict[str, Any]:
        """Return the fields of an action that stops and frames share."""
        return {
            **protocol.ref_fields(self.reference(place)),
            "depth": self.actions.line.depth(place),
            "id": self.actions.operation(place) or None,
        }

    def units(self, place: int, event: int) -> list[protocol.Unit]:
        """Return the first IR unit of an action, if it is recorded."""
        id = self.actions.operation(place)
        return [self.unit(self.operations.held(id, place, event), event)] if id else []

    def unit(self, held: OperationState, event: int) -> protocol.Unit:
        """Return an operation as an IR unit, with its text where that is recorded."""
        is_there = held.state != "erased"
        return self.operations.unit(held, self.ir.first_line(held.id, event) if is_there else None)

    def culprit(self, place: int) -> protocol.Culprit:
        """Return an action as a culprit."""
        action = self.reference(place)
        return protocol.Culprit(
            ordinal=action.ordinal,
            tag=action.tag,
            name=action.name,
            guess=bool(self.actions.is_deferred[place]),
        )

    def _iteration(self, place: int) -> int | None:
        """Return the number of the innermost greedy iteration around an action."""
        tags, names = self.actions.words("tag"), self.actions.words("name")
        for outer in self.actions.line.stack(place):
            if tags.of(outer) == ITERATION_TAG:
                digits = (names.of(outer) or "").removeprefix("iteration ")
                return int(digits) if digits.isdecimal() else None
        return None

    # --- outcomes ---

    def outcome(self, place: int) -> protocol.Outcome:
        """Return the outcome of a finished action."""
        result = self.actions.words("outcome").of(place)
        how = self.actions.words("fold").of(place)
        if self.actions.words("tag").of(place) == CONVERSION_TAG:
            how = self._conversion(place)
        return protocol.Outcome(
            result=cast("protocol.Result", result),
            reasons=self.reasons(place),
            how=how,
            unheard=bool(self.actions.numbers("unheard")[place]),
        )

    def reasons(self, place: int) -> list[str]:
        """Return the reasons of a failure, in the order of their reports."""
        first, last = (int(rows[0]) for rows in self._reason_rows(np.array([place])))
        told = self._reasons.words("reason").take(np.arange(first, last))
        return [reason for reason in told if reason is not None]

    def _reason_rows(self, places: Ints) -> tuple[Ints, Ints]:
        """Return the first row of the reasons of each action, and the row behind the last."""
        ordinals = self._reasons.numbers("ordinal")
        wanted = self.actions.numbering.ordinals(places)
        return (
            np.searchsorted(ordinals, wanted),
            np.searchsorted(ordinals, wanted, side="right"),
        )

    def outcome_keys(self, places: Ints) -> Ints:
        """Return a key for each action: equal for equal outcomes and reasons."""
        keys = self.actions.words("outcome").codes[places].astype(np.int64)
        first, last = self._reason_rows(places)
        words = self._reasons.words("reason")
        codes = np.append(words.codes.astype(np.int64), -1)
        for at in range(int((last - first).max(initial=0))):
            code = codes[np.where(first + at < last, first + at, len(codes) - 1)]
            _, keys = np.unique(keys * (len(words.values) + 1) + code + 1, return_inverse=True)
        return keys

    def attempt(self, place: int) -> Attempt:
        """Return a finished attempt of a pattern."""
        return Attempt(
            id=self.actions.operation(place) or None,
            outcome=self.outcome(place),
            change_count=int(self.actions.change_counts[place]),
            **protocol.ref_fields(self.reference(place)),
        )

    def _conversion(self, place: int) -> str:
        """Summarise the patterns of a dialect conversion: legalized and rolled back."""
        inside = slice(place + 1, self.actions.line.last_inside(place) + 1)
        patterns = self.actions.is_tag(PATTERN_TAG)[inside]
        outcomes = self.actions.words("outcome")
        succeeded = [outcomes.code(result) for result in ("succeeded", "unchanged")]
        legalized = np.isin(outcomes.codes[inside], succeeded) & patterns
        rolled_back = self.actions.numbers("rolled_back")[inside] & patterns
        words = ((legalized, "legalized", "operation"), (rolled_back, "rolled back", "pattern"))
        return ", ".join(
            f"{verb} {counted(count, noun)}"
            for count, verb, noun in ((int(which.sum()), verb, noun) for which, verb, noun in words)
        )
