"""A stop: the tool waits before, after or in an action, or has ended; and why it crashed."""

from __future__ import annotations

import re
import signal
from typing import Any, Literal, NamedTuple

import msgspec

from actiondbg import protocol
from actiondbg.errors import UsageError
from actiondbg.support.counts import counted, joined, plural
from actiondbg.support.interrupts import signal_name

SIGNALS = (
    signal.SIGABRT,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGILL,
    signal.SIGSEGV,
    signal.SIGTRAP,
)

# The text of assert(3), see __assert_fail in the C library, and of llvm_unreachable.
_ASSERTION = re.compile(
    r"(?:\S*: )?(?P<file>[^\s:]+):(?P<line>\d+): (?P<function>.*): "
    r"(?P<what>Assertion `.*' failed)\.?",
    re.DOTALL,
)
_UNREACHABLE = re.compile(
    r"(?P<what>.*)\nUNREACHABLE executed at (?P<file>[^\s:]+):(?P<line>\d+)!", re.DOTALL
)
_CRASH = re.compile(
    rf"(?P<signal>{'|'.join(one.name for one in SIGNALS)})(?:: (?P<text>.*))?", re.DOTALL
)


class CrashCause(NamedTuple):
    """The cause of a crash."""

    signal: str  # the name of the signal, such as SIGABRT
    what: str  # the failed assertion or the tool's message, without the final dot; "" if unknown
    place: str | None = None  # FILE:LINE in the source of the tool, or None
    function: str | None = None  # the function of an assertion, or None


def crash_cause(signal: str, text: str | None) -> CrashCause:
    """Return the cause of a crash from the signal and the tool's message, if there is one."""
    text = (text or "").strip()
    for pattern in (_ASSERTION, _UNREACHABLE):
        match = pattern.fullmatch(text)
        if match is not None:
            found = match.groupdict()
            place = f"{found['file']}:{found['line']}"
            return CrashCause(signal, found["what"], place, found.get("function"))
    return CrashCause(signal, text.removesuffix("."))


def parse_crash(message: str) -> CrashCause | None:
    """Return the cause of a crash from the message of a stop; None for another message."""
    match = _CRASH.fullmatch(message)
    return None if match is None else crash_cause(match["signal"], match["text"])


def function_name(signature: str) -> str:
    """Return the qualified name in a signature of an assertion, such as "bool A::f(int) const"."""
    text = signature.replace("(anonymous namespace)", "{anonymous}")
    text = re.sub(r" \[with .*\]$", "", text)
    depth, begin = 0, 0
    for at, char in enumerate(text):
        if char in "<(" and not text[:at].endswith("operator"):
            if char == "(" and depth == 0:
                return text[begin:at].lstrip("*&")
            depth += 1
        elif char in ">)" and depth:
            depth -= 1
        elif char == " " and not depth:
            begin = at + 1
    return signature


Side = Literal["before", "after"]  # of an action


class Stop(protocol.StopFields, kw_only=True, frozen=True):  # pyright: ignore[reportGeneralTypeIssues]
    """A stop of the tool, and its reason.

    Attributes:
        when: "before", "after" or "during" the action, or "exit": the tool has ended.
        reason: "start", "breakpoint", "step", "next", "finish", "until", "interrupt", "watch",
            "catch", "verify" or "crash"; at exit "exited", "killed" (from outside) or "crashed".
        process: the process of a program, such as p0; None for a tool that was started itself.
        processes: the number of processes of the program that were debugged so far.
        status: the exit status, negative for a signal; None before the exit.
        actions: the number of dispatched actions, if the tool reported it at its exit.
        never_hit: at exit, the ids of the enabled breakpoints without a hit in this run.

    ``StopFields`` describes the other fields.
    """

    when: protocol.When | Literal["exit"]
    reason: protocol.Reason | Literal["exited", "killed", "crashed"]
    process: str | None = None
    processes: int = 1
    status: int | None = None
    actions: int | None = None
    never_hit: list[int] = msgspec.field(default_factory=list[int])

    def __str__(self) -> str:
        """Return the stop as sentences: its place, the outcome, and why the tool stopped."""
        if self.when == "exit":
            return self.message or f"The tool exited with status {self.status}."
        when = "inside" if self.when == "during" else self.when
        place = f"{when} {self.title}" if self.ordinal else "outside of any action"
        if self.pass_run is not None and self.pass_run.begun > 1:
            place += f" in {self.pass_run}"
        place += f" in @{self.function.removeprefix('@')}" if self.function else ""
        place += f" at {self.location}" if self.location else ""
        hits = ""
        if self.breakpoints:
            hits = f" ({plural('breakpoint', len(self.breakpoints))} {joined(self.breakpoints)})"
        result = f": {self.outcome.result}" if self.outcome is not None else ""
        reasons = self.outcome.reasons if self.outcome is not None else []
        lines = [*reasons, *(self.message or "").splitlines()]
        return "\n".join([f"Stopped {place}{hits}{result}", *(f"  {line}" for line in lines)])

    @property
    def cursor_id(self) -> int | None:
        """The id of the operation under the cursor, or None."""
        return self.cursor.id if self.cursor else None

    @property
    def is_crash(self) -> bool:
        """Whether the tool is stopped where it crashes."""
        return self.when == "during" and parse_crash(self.message or "") is not None

    @property
    def crash(self) -> str | None:
        """Where the tool crashes or has crashed, and why, as a sentence; None if it has not."""
        if self.reason == "crashed":
            return self.message
        cause = parse_crash(self.message or "") if self.when == "during" else None
        if cause is None:
            return None
        place = f"in #{self.ordinal} {self.tag} ({self.name or 'nameless'})"
        why = ": ".join(part for part in (cause.signal, cause.what) if part)
        return f"The tool crashes {place if self.ordinal else 'outside of any action'}: {why}."

    def with_reason(self, reason: protocol.Reason) -> Stop:
        """Return a copy with another reason."""
        return msgspec.structs.replace(self, reason=reason)

    def as_json(self) -> dict[str, Any]:
        """Return the stop with stable keys; at an exit, keys without a value are None or absent."""
        keys = ("when", "reason", "ordinal", "tag", "name", "op", "location", "function", "depth")
        result = {
            key: getattr(self, key) for key in (*keys, "context", "mlir", "thread", "process")
        }
        result["breakpoints"] = list(self.breakpoints)
        if self.when == "after":
            result["skipped"] = self.skipped
        result["event"] = self.event
        if self.when == "exit":
            if not self.ordinal:
                result.update(dict.fromkeys(("ordinal", "tag", "name", "depth")))
            result["event"] = self.event or None
            result.update(status=self.status, actions=self.actions, message=self.message)
            result["never_hit"] = list(self.never_hit)
            return result
        result["id"] = self.id
        for key in ("cursor", "outcome", "changes", "message", "culprit"):
            result[key] = msgspec.to_builtins(getattr(self, key))
        return result


def not_ended(ordinal: int, stop: Stop | None) -> UsageError:
    """Return the error about an action that has begun, and has not ended at a stop."""
    way_out = "continue to its end first"
    if stop is not None and stop.ordinal and (stop.is_crash or stop.reason == "crashed"):
        way_out = f"the tool crashes in #{stop.ordinal}"
    elif stop is not None and stop.when == "exit":
        way_out = "the tool ended in it"
    return UsageError(f"The action #{ordinal} has not ended: {way_out}.")


def ended_action(stop: Stop | None, what: Literal["tool", "recording"]) -> int:
    """Return the ordinal of the action that a session is stopped after, or raise UsageError."""
    if stop is not None and stop.when == "after" and stop.ordinal:
        return stop.ordinal
    if stop is not None and stop.when != "exit" and stop.is_crash:
        raise not_ended(stop.ordinal, stop)
    way_out = "name an action by its ordinal, such as #17."
    if stop is None or stop.when != "exit":
        way_out = f"go to the end of this one with next, or {way_out}"
    raise UsageError(f"The {what} is not stopped after an action: {way_out}")


def with_skipping(stop: Stop | None, skipping: protocol.Skipping) -> Stop | None:
    """Return a stop before an action with the agent's answer about a change of the skips."""
    if stop is None or stop.when != "before" or skipping.skipped is None:
        return stop
    return msgspec.structs.replace(stop, skipped=skipping.skipped)


def stop_of(message: protocol.Stopped) -> Stop:
    """Return the stop of an agent's notification."""
    fields = {name: getattr(message, name) for name in protocol.StopFields.__struct_fields__}
    return Stop(when=message.when, reason=message.reason, **fields)


def final_crash(
    crashed: protocol.Crashed | None, exited: protocol.Exited
) -> protocol.Crashed | None:
    """Return the crash that an end follows; None if the tool recovered from it."""
    if crashed is None or exited.status == 0 or exited.event > crashed.event:
        return None
    return crashed


def exit_of(
    status: int,
    attached: bool,
    exited: protocol.Exited | None,
    crashed: protocol.Crashed | None,
) -> Stop:
    """Return the stop at the tool's end, by the agent's notifications before it, if any.

    The status is negative for a signal; ``attached`` tells whether the agent had sent its hello.
    """
    last = crashed or exited
    stop = _exit_of(status, attached, exited, crashed)
    if last is None:
        return stop
    return msgspec.structs.replace(stop, event=last.event, unforkable=last.unforkable)


def _exit_of(
    status: int,
    attached: bool,
    exited: protocol.Exited | None,
    crashed: protocol.Crashed | None,
) -> Stop:
    actions = exited.actions if exited else None
    if status >= 0 and crashed is None:
        message = f"The tool ended with status {status}{_extent(attached, actions)}."
        return Stop(when="exit", reason="exited", status=status, actions=actions, message=message)
    if crashed is None and -status not in SIGNALS:
        message = f"The tool was killed by {signal_name(-status)}{_extent(attached, actions)}."
        return Stop(when="exit", reason="killed", status=status, actions=actions, message=message)
    how = f"died of {signal_name(-status)}" if status < 0 else f"crashed, with status {status},"
    cause = crash_cause(signal_name(-status), crashed.message if crashed else None)
    why = f": {cause.what}" if cause.what else ""
    if crashed is None or not crashed.ordinal:
        place = " outside of any action" if attached else _extent(attached, None)
        message = f"The tool {how}{place}{why}."
        return Stop(when="exit", reason="crashed", status=status, message=message)
    named = " ".join(word for word in (f"#{crashed.ordinal}", crashed.tag, crashed.name) if word)
    about = f" on {crashed.op}" if crashed.op else ""
    return Stop(
        when="exit",
        reason="crashed",
        ordinal=crashed.ordinal,
        tag=crashed.tag,
        name=crashed.name,
        op=crashed.op,
        depth=crashed.depth,
        status=status,
        message=f"The tool {how} in {named}{about}{why}.",
    )


def _extent(attached: bool, actions: int | None) -> str:
    if not attached:
        return " before it made an MLIR context"
    if actions is None:
        return ""
    return f" after {counted(actions, 'action')}"
