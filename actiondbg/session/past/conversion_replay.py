"""A replay that finds out what dialect conversions tried."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from actiondbg import protocol
from actiondbg.analysis.legalization.explanation import Explanation, VerifierFailure
from actiondbg.analysis.legalization.tree import (
    Conversion,
    add_reasons,
    failed_types,
    read_conversions,
)
from actiondbg.breakpoints.breakpoint import catches_on_wire
from actiondbg.errors import NoAnswer, ToolGone
from actiondbg.ir.value_names import ValueNames, read_names
from actiondbg.protocol.legalizations import LegalizationEvent, ValuesNamed
from actiondbg.session.inspection.agent_access import ForkAccess
from actiondbg.session.inspection.named_access import NamedAccess
from actiondbg.session.past.replay import Replay, replay_to

if TYPE_CHECKING:
    from actiondbg.process.forked_tool import ForkedTool

_VERIFY = protocol.Catch(kind="verify")
_MOST = 1000  # operations that conversions left


class ConversionReplay:
    """Replays the run up to now, and keeps what conversions tried in vain.

    Args:
        replay: replays the run.
        names: the names of values.
    """

    def __init__(self, replay: Replay, names: ValueNames) -> None:
        self._replay = replay
        self._names = names

    def explain(
        self, target: str | None, *, id: int | None = None, glob: str | None = None
    ) -> Explanation:
        """Return the conversions that failed, and those that left an operation.

        Args:
            target: what was asked for, as the user wrote it.
            id: an operation.
            glob: the name of operations.
        """
        message = protocol.OpenLegalizations(
            path="", ids=[] if id is None else [id], glob=glob or "", most=_MOST
        )
        conversions = self._replayed(message)
        if failed_types(conversions):
            # Debug output and probes may change the run, or end it: no reason is known then.
            with contextlib.suppress(NoAnswer, ToolGone):
                reasons = msgspec.structs.replace(message, reasons=True)
                add_reasons(conversions, self._replayed(reasons))
        found = Explanation(target=target, conversions=conversions)
        if target is None and found.failed is None:
            found.verifier = self._verifier_failure()
        return found

    def _verifier_failure(self) -> VerifierFailure | None:
        """Return the first failure of the verifier up to now."""
        place = self._replay.now()
        until = protocol.Until(
            terms=[protocol.Term(kind="ordinal", ordinal=place.ordinal)],
            condition=None,
            within=False,
            after=place.when == "after",
        )
        is_over = self._replay.is_over
        if not is_over and (place.ended or not place.ordinal):
            return None  # outside of any action: where that is cannot be told a fork
        with self._replay.fork() as fork:
            fork.request(protocol.SetBreakpoints(breakpoints=catches_on_wire([_VERIFY])))
            stop = fork.complete(until=None if is_over else until)
        if stop.reason != "catch":
            return None
        return VerifierFailure(message=stop.message or "", culprit=stop.culprit)

    def _replayed(self, message: protocol.OpenLegalizations) -> list[Conversion]:
        with self._replay.log_file() as file, self._replay.fork() as fork:
            fork.request(msgspec.structs.replace(message, path=str(file)))
            replay_to(fork, self._replay.now())
            fork.request(protocol.CloseLegalizations())
            return self._read(file, fork)

    def _read(self, file: Path, fork: ForkedTool) -> list[Conversion]:
        access = NamedAccess(ForkAccess(fork), self._names, lambda: file.with_suffix(".names"))
        events = list(_read_events(file))
        for event in events:
            if isinstance(event, ValuesNamed):
                self._names.learn(event.scope, read_names(event.text))
        return read_conversions(events, access.text)


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
