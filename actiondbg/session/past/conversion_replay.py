"""A replay that finds out what dialect conversions tried."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from actiondbg import protocol
from actiondbg.analysis.legalization.explanation import (
    CAST,
    BesideCasts,
    Explanation,
    OtherFailure,
)
from actiondbg.analysis.legalization.tree import (
    Conversion,
    add_reasons,
    failed_types,
    read_conversions,
    refused,
)
from actiondbg.breakpoints.breakpoint import catches_on_wire
from actiondbg.errors import NoAnswer, ToolGone
from actiondbg.ir.value_names import ValueNames, read_names
from actiondbg.protocol.legalizations import LegalizationEvent, Neighbour, ValuesNamed
from actiondbg.session.inspection.agent_access import NamedAccess
from actiondbg.session.past.replay import Replay, replay_to

if TYPE_CHECKING:
    from actiondbg.process.forked_tool import ForkedTool

# Of a failure of the verifier, which fails its pass, the first is caught.
_FAILURES = (protocol.Catch(kind="verify"), protocol.Catch(kind="failure"))
_MOST = 1000  # operations that conversions left


class ConversionReplay:
    """Replays the run up to now, and keeps what conversions tried in vain."""

    def __init__(self, replay: Replay, names: ValueNames) -> None:
        self._replay = replay
        self._names = names

    def explain(
        self, target: str | None, *, id: int | None = None, glob: str | None = None
    ) -> Explanation:
        """Return the conversions that failed, and those that left an operation."""
        message = _wanted([] if id is None else [id], glob or "")
        if target is None:
            return self._explain_run(message)
        found = Explanation(target=target, conversions=self._reasoned(message))
        found.beside = self._beside(found.beside_casts())
        return found

    def _explain_run(self, message: protocol.OpenLegalizations) -> Explanation:
        """Return why the run failed; if it succeeded, why casts are left."""
        left = self._left_casts()
        conversions = self._reasoned(message) if left is None else []
        found = Explanation(target=None, conversions=conversions)
        found.take_other(self._other_failure())
        if found.failed is None and found.other is None:
            found.other = self._crash()
        if found.failed is None and found.other is None:
            found.status = (self._replay.is_over and self._replay.exit_status) or 0
        if found.other is not None and found.other.kind == "verifier":
            found.conversions += self._left_by(found.other.culprit)
        found.needed_by = self._needed_by(found)
        if left and found.failed is None and found.other is None:
            found.casts = self._with_reasons(left)
        return found

    def _left_casts(self) -> list[Conversion] | None:
        """Return the conversions that left casts, if the run has ended and none failed; else None.

        This takes the place of the replay that looks for those that failed: where no cast is left
        it costs nothing.
        """
        if not self._replay.is_over or self._replay.exit_status:
            return None  # a later pass may remove them
        with contextlib.suppress(NoAnswer, ToolGone):  # names of values may change the run
            left = self._replayed(_wanted([], CAST))
            if all(each.failed is False for each in left):
                return left
        return None

    def _with_reasons(self, left: list[Conversion]) -> Explanation | None:
        """Return why casts are left at the end of a run that succeeded; None without any."""
        found = Explanation(target=f"op:{CAST}", conversions=left)
        if not found.casts_left():
            return None
        self._add_reasons(_wanted([], CAST), left)
        with contextlib.suppress(NoAnswer, ToolGone):
            found.beside = self._beside(found.beside_casts())
        return found

    def _beside(self, operations: list[Neighbour]) -> list[BesideCasts]:
        """Return why conversions left operations: the first one of each name."""
        of_name: dict[str, list[Neighbour]] = {}
        for each in operations:
            of_name.setdefault(each.name, []).append(each)
        why = self._why_left([each[0] for each in of_name.values()])
        return [
            BesideCasts(first=each[0], count=len(each), why=one)
            for each, one in zip(of_name.values(), why, strict=True)
        ]

    def _needed_by(self, found: Explanation) -> Explanation | None:
        """Return why earlier conversions left the operation that needs the one at which a
        conversion without a pattern for it failed.

        That is the nearest for which they had patterns, or else the last of those that need it.
        """
        failed, cause = found.failed, found.cause
        if failed is None or cause is None or cause.kind != "no pattern":
            return None
        why = self._why_left(failed.needing, before=failed.ordinal)
        left = [each for each in why if each.groups()]
        had_patterns = (one for one in left if one.groups()[0].cause.kind != "no pattern")
        return next(had_patterns, left[-1] if left else None)

    def _why_left(
        self, operations: list[Neighbour], before: int | None = None
    ) -> list[Explanation]:
        """Return why conversions, perhaps those before an action, left operations."""
        ids = [each.id for each in operations if each.id is not None]
        message = _wanted(ids, "")
        conversions = [
            each
            for each in (self._reasoned(message) if ids else [])
            if before is None or each.ordinal < before
        ]
        found = [Explanation(target=f"@{each.id}", conversions=conversions) for each in operations]
        for each, one in zip(operations, found, strict=True):
            names = {group.first.op for group in one.groups()}
            # Another replay may number what follows casts differently.
            if names | {left.name for _, left in one.never_tried()} != {each.name}:
                one.conversions = []
        return found

    def _reasoned(self, message: protocol.OpenLegalizations) -> list[Conversion]:
        conversions = self._replayed(message)
        self._add_reasons(message, conversions)
        return conversions

    def _add_reasons(
        self, message: protocol.OpenLegalizations, conversions: list[Conversion]
    ) -> None:
        if failed_types(conversions) or refused(conversions):
            # Debug output and probes may change the run, or end it: no reason is known then.
            with contextlib.suppress(NoAnswer, ToolGone):
                reasons = msgspec.structs.replace(message, reasons=True)
                add_reasons(conversions, self._replayed(reasons))

    def _left_by(self, culprit: protocol.Culprit | None) -> list[Conversion]:
        """Return the conversions of a pass, the last that ended, that left operations: IR that the
        verifier refuses is often half converted.
        """
        if culprit is None:
            return []
        return [each for each in self._reasoned(_wanted([], "*")) if each.ordinal > culprit.ordinal]

    def _other_failure(self) -> OtherFailure | None:
        """Return the first failure of the verifier or of a pass up to now."""
        place = self._replay.now()
        until = protocol.until_action(place.ordinal, place.when == "after")
        is_over = self._replay.is_over
        if not is_over and (place.ended or not place.ordinal):
            return None  # outside of any action: where that is cannot be told a fork
        with self._replay.log_file() as file, self._replay.fork() as fork:
            fork.request(protocol.SetBreakpoints(breakpoints=catches_on_wire(_FAILURES)))
            stop = fork.complete(until=None if is_over else until)
            if stop.reason != "catch":
                return None
            is_pass = stop.breakpoints == [2]
            about = stop.cursor if is_pass and stop.cursor else None
            is_known = about is not None and about.by == "failing"
            unit = self._access(file, fork).ask(protocol.GetCursor()).unit if is_known else None
        message = stop.message or ""
        return OtherFailure(
            kind="pass" if is_pass else "verifier",
            message=message.partition(" failed: ")[2] if is_pass else message,
            culprit=stop.culprit,
            unit=unit,
        )

    def _crash(self) -> OtherFailure | None:
        crash = self._replay.crash
        return None if crash is None else OtherFailure(kind="crash", message=crash)

    def _replayed(self, message: protocol.OpenLegalizations) -> list[Conversion]:
        place = self._replay.now()
        with self._replay.log_file() as file, self._replay.fork() as fork:
            fork.request(msgspec.structs.replace(message, path=str(file)))
            replay_to(fork, place)
            fork.request(protocol.CloseLegalizations())
            conversions = self._read(file, fork)
        for each in conversions[-1:]:
            if each.failed is None and (place.ordinal, place.when) == (each.ordinal, "after"):
                # Its action has ended, and only its function has not returned.
                each.failed = bool(each.errors)
        return conversions

    def _read(self, file: Path, fork: ForkedTool) -> list[Conversion]:
        events = list(_read_events(file))
        for event in events:
            if isinstance(event, ValuesNamed):
                self._names.learn(event.scope, read_names(event.text))
        return read_conversions(events, self._access(file, fork).text)

    def _access(self, file: Path, fork: ForkedTool) -> NamedAccess:
        return NamedAccess(fork, self._names, lambda: file.with_suffix(".names"))


def _wanted(ids: list[int], glob: str) -> protocol.OpenLegalizations:
    return protocol.OpenLegalizations(path="", ids=ids, glob=glob, most=_MOST)


def _read_events(file: Path) -> Iterator[LegalizationEvent]:
    decoder = msgspec.json.Decoder(LegalizationEvent)
    try:
        with file.open("rb") as lines:
            for line in lines:
                yield decoder.decode(line)
    except (OSError, msgspec.DecodeError) as error:
        raise NoAnswer(
            f"What the conversions tried cannot be read ({error}): check that disk space is left."
        ) from error
