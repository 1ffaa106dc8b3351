"""The breakpoints of a client: each request replaces a group, such as the breakpoints of a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec

from actiondbg.commands.dap import protocol
from actiondbg.errors import ActiondbgError, UsageError

if TYPE_CHECKING:
    from actiondbg.breakpoints.breakpoint import Breakpoint
    from actiondbg.commands.dap.debuggee import Debuggee
    from actiondbg.process.stop import Stop

_HIT_CONDITION = re.compile(r"\s*(>=|>)?\s*(\d{1,9})\s*")
_EXPRESSION = re.compile(r"\{([^{}]*)\}")

Log = Callable[[str], None]

# What ``{name}`` in a log message stands for.
_FACTS: dict[str, Callable[[Stop], object]] = {
    **{name: attrgetter(name) for name in ("name", "ordinal", "op", "location", "function", "tag")},
    **{name: attrgetter(name) for name in ("id", "depth", "when", "reason", "process")},
    "outcome": lambda stop: stop.outcome and stop.outcome.result,
    "reasons": lambda stop: stop.outcome and "; ".join(stop.outcome.reasons),
    "changes": lambda stop: stop.outcome and stop.change_count,
    "pass": attrgetter("pass_run"),
    "stop": str,
}
_HITS = "hits"  # of the breakpoint so far, with this one


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A breakpoint that a client wants.

    Attributes:
        line: the command line of the shell that sets it, without its condition.
        hit_condition: the number of the hit from which on it stops.
        log: a message to log instead of stopping; ``{name}`` is a fact of the action.
        cannot: why it cannot be set, or None.
    """

    line: str = ""
    condition: str | None = None
    hit_condition: str | None = None
    log: str | None = None
    cannot: str | None = None


class Placed(msgspec.Struct):
    """The state of a breakpoint that a client wants.

    Attributes:
        id: the number of the breakpoint in the session; None if it was refused.
        error: the reason of the refusal.
        reported: the state that was last sent to the client.
    """

    wanted: Wanted
    id: int | None = None
    error: str | None = None
    reported: protocol.Breakpoint = msgspec.field(
        default_factory=lambda: protocol.Breakpoint(verified=True)
    )


class BreakpointGroups:
    """The breakpoints that clients have set, by group."""

    def __init__(self) -> None:
        self._groups: dict[str, list[Placed]] = {}

    def replace(
        self, debuggee: Debuggee, group: str, wanted: Sequence[Wanted], log: Log
    ) -> list[Placed]:
        """Replace a group; breakpoints that are wanted again keep their ids and hits."""
        kept = list(self._groups.get(group, ()))
        placed: list[Placed] = []
        for each in wanted:
            same = next((old for old in kept if old.wanted == each and old.id is not None), None)
            if same is not None:
                kept.remove(same)
            placed.append(same or Placed(each))
        existing = {one.id for one in debuggee.session.breakpoints.all()}
        gone = [old.id for old in kept if old.id is not None and old.id in existing]
        if gone:
            debuggee.session.breakpoints.delete(gone)
        for each in placed:
            if each.id is None or each.id not in existing:
                self._place(debuggee, each, log)
            self._report(debuggee, each)
        self._groups[group] = placed
        return placed

    def changed(self, debuggee: Debuggee) -> list[Placed]:
        """Return the breakpoints whose state has changed since it was sent to the client."""
        found: list[Placed] = []
        waiting = [
            each
            for group in self._groups.values()
            for each in group
            if each.id is not None and not each.reported.verified
        ]
        if not waiting or debuggee.session.state != "stopped":
            return found
        debuggee.session.breakpoints.hits()
        for each in waiting:
            before = each.reported
            if self._report(debuggee, each) != before:
                found.append(each)
        return found

    # --- helpers ---

    def _place(self, debuggee: Debuggee, placed: Placed, log: Log) -> None:
        wanted = placed.wanted
        placed.id = placed.error = None
        if wanted.cannot is not None:
            placed.error = wanted.cannot
            return
        try:
            ignored = _ignored(wanted.hit_condition)
            if wanted.log is not None:
                _check_names(wanted.log)
            made = _set(debuggee, wanted)
        except ActiondbgError as error:
            placed.error = str(error)
            return
        placed.id = made.id
        if wanted.log is not None:
            made.predicate = _logging(
                wanted.log, log, lambda: debuggee.session.breakpoints.get(made.id).hits
            )
        made.ignore_each_run = ignored
        if ignored:
            debuggee.session.breakpoints.set_ignore(made.id, ignored)

    def _report(self, debuggee: Debuggee, placed: Placed) -> protocol.Breakpoint:
        if placed.id is None:
            placed.reported = protocol.Breakpoint(
                verified=False, message=placed.error, reason="failed"
            )
        elif (pending := debuggee.session.breakpoints.get(placed.id).pending) is None:
            placed.reported = protocol.Breakpoint(id=placed.id, verified=True)
        else:
            reason = "failed" if debuggee.session.names.is_complete else "pending"
            placed.reported = protocol.Breakpoint(
                id=placed.id, verified=False, message=pending, reason=reason
            )
        return placed.reported


def _set(debuggee: Debuggee, wanted: Wanted) -> Breakpoint:
    line = wanted.line
    if wanted.condition:
        line += f" if {wanted.condition}"
    if "\n" in line:
        raise UsageError("A breakpoint is one line.")
    parsed = debuggee.interpreter.parse(line)
    made = parsed.command.call(debuggee.console, parsed.options)
    from actiondbg.breakpoints.breakpoint import Breakpoint

    assert isinstance(made, Breakpoint)
    return made


def _ignored(hit_condition: str | None) -> int:
    """Return the number of hits to ignore for ``5``, ``>= 5`` or ``> 5``.

    Raises:
        UsageError: the text is none of these.
    """
    if not hit_condition or not hit_condition.strip():
        return 0
    match = _HIT_CONDITION.fullmatch(hit_condition)
    if match is None:
        raise UsageError(
            f"The hit count {hit_condition!r} is not a number such as 5, >= 5 or > 5: a condition "
            "on the field hits, such as hits == 5, says more."
        )
    count = int(match[2])
    return count if match[1] == ">" else max(count - 1, 0)


def _check_names(text: str) -> None:
    """Raise UsageError if a log message has a name in braces that stands for nothing."""
    known = (*_FACTS, _HITS)
    for name in _EXPRESSION.findall(text):
        if name.strip() not in known:
            names = ", ".join(f"{{{each}}}" for each in known)
            raise UsageError(f"A log message has no {{{name}}}: take {names}.")


def _logging(text: str, log: Log, hits: Callable[[], int]) -> Callable[[Stop], bool]:
    """Return a predicate that logs a message at each stop, and resumes the tool."""

    def fact(stop: Stop, name: str) -> str:
        value = hits() if name == _HITS else _FACTS[name](stop)
        return "" if value is None else str(value)

    def predicate(stop: Stop) -> bool:
        log(_EXPRESSION.sub(lambda match: fact(stop, match[1].strip()), text))
        return False

    return predicate
