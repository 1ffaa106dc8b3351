"""The cause of a crash: the signal, and the tool's message, such as a failed assertion."""

from __future__ import annotations

import re
import signal
from typing import NamedTuple

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
    """The cause of a crash.

    Attributes:
        signal: the name of the signal, such as SIGABRT.
        what: the failed assertion or the tool's message, without the final dot; "" if unknown.
        place: FILE:LINE in the source of the tool, or None.
        function: the function of an assertion, or None.
    """

    signal: str
    what: str
    place: str | None = None
    function: str | None = None


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
    """Return the qualified name in a signature, without its types.

    Args:
        signature: as the compiler writes it into an assertion, such as "bool A::f(int) const".
    """
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
