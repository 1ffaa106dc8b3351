"""The header and the ending of a recording: how the tool started and ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Ended = Literal["exit", "crash", "killed", "unknown"]


@dataclass(frozen=True)
class Header:
    """The recorded run.

    Args:
        argv: the tool's command line.
        cwd: the tool's working directory.
        agent: the version of the agent.
        llvm: the version of the tool's LLVM.
        pid: the tool's process.
        started: the start time, in ns of Unix time.
        ir: the recorded IR: "none", "output", "changed", "function" or "pass", as all imports.
        events: the names of the counters read at each action.
        threads: whether the tool's own threading was on.
        lineage: whether the lineage of operations was recorded.
        checks: whether it was checked that patterns keep the rules of rewriting.
        imported: the log or folder from which the recording was imported; empty if a tool was
            recorded. Then there is no command line, no time, and nothing but passes.
    """

    argv: tuple[str, ...] = ()
    cwd: str = ""
    agent: str = ""
    llvm: str = ""
    pid: int = 0
    started: int = 0
    ir: str = "none"
    events: tuple[str, ...] = ()
    threads: bool = False
    lineage: bool = False
    checks: bool = False
    imported: str = ""

    @property
    def has_ir(self) -> bool:
        """Whether the IR before and after actions was recorded."""
        return self.ir not in ("none", "output")

    @property
    def has_texts(self) -> bool:
        """Whether the IR is that of functions or modules, as MLIR prints it."""
        return self.ir in ("function", "pass")


@dataclass(frozen=True)
class Ending:
    """How the tool ended.

    Args:
        ended: "exit", "crash", "killed" for a recording without an ending, or "unknown" for an
            import.
        status: the exit status, None unless ``ended`` is "exit".
        signal: the deadly signal, None unless ``ended`` is "crash".
        ordinal: the action in which the tool crashed, None outside actions.
        message: what the tool wrote about its crash, such as a failed assertion, or None.
    """

    ended: Ended
    status: int | None = None
    signal: int | None = None
    ordinal: int | None = None
    message: str | None = None


def parse_header(payload: bytes) -> Header:
    """Parse the HEADER section; missing fields get the defaults of ``Header``.

    Raises:
        ValueError: the payload is not a JSON object.
    """
    fields = _parse(payload)
    return Header(
        argv=_words(fields.get("argv")),
        cwd=_text(fields.get("cwd", "")),
        agent=_text(fields.get("agent", "")),
        llvm=_text(fields.get("llvm", "")),
        pid=int(fields.get("pid", 0)),
        started=int(fields.get("started", 0)),
        ir=_text(fields.get("ir", "none")),
        events=_words(fields.get("events")),
        threads=bool(fields.get("threads", False)),
        lineage=bool(fields.get("lineage", False)),
        checks=bool(fields.get("checks", False)),
        imported=_text(fields.get("imported", "")),
    )


def parse_ending(payload: bytes, ordinal_of: Callable[[int], int | None]) -> Ending:
    """Parse the END section.

    Args:
        payload: the bytes of the section.
        ordinal_of: returns the ordinal of a row of the thread that wrote the section.

    Raises:
        ValueError: the payload is not a JSON object.
    """
    fields = _parse(payload)
    if fields.get("ended") == "exit":
        return Ending("exit", status=int(fields.get("status", 0)))
    if fields.get("ended") == "unknown":
        return Ending("unknown")
    row = fields.get("row")
    signal = int(fields.get("signal", 0)) or None
    ordinal = None if row is None else ordinal_of(int(row))
    message = _text(fields.get("message") or "") or None
    return Ending("crash", signal=signal, ordinal=ordinal, message=message)


def _parse(payload: bytes) -> dict[str, Any]:
    fields: Any = json.loads(payload.decode(errors="replace"))
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")
    return {str(key): value for key, value in fields.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _words(value: Sequence[Any] | None) -> tuple[str, ...]:
    return tuple(map(_text, value or ()))


def _text(value: object) -> str:
    """Return text that can be encoded as UTF-8: JSON may hold lone surrogates."""
    return str(value).encode(errors="replace").decode()
