"""What a recording says of itself: how the tool was started, and how it ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Ended = Literal["exit", "crash", "killed"]


@dataclass(frozen=True)
class Header:
    """The run that was recorded.

    Args:
        argv: the tool's command line.
        cwd: where it ran.
        agent: the version of the agent.
        llvm: the version of the tool's LLVM.
        pid: of the tool.
        started: when, in ns of Unix time.
        ir: which IR was kept: "none", "changed" or "function".
        events: the names of the counters that were read at each action.
        threads: whether the tool's own threading was on.
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


@dataclass(frozen=True)
class Ending:
    """How the tool ended.

    Args:
        ended: "exit", "crash", or "killed" when it could not say so itself.
        status: with which it left, None unless ``ended`` is "exit".
        signal: that it got, None unless ``ended`` is "crash".
        ordinal: of the action in which it crashed, None if it was in none.
    """

    ended: Ended
    status: int | None = None
    signal: int | None = None
    ordinal: int | None = None


def parse_header(payload: bytes) -> Header:
    """Read the HEADER section; what it does not say is as in ``Header()``.

    Raises:
        ValueError: it is no JSON object.
    """
    said = _parse(payload)
    return Header(
        argv=_words(said.get("argv")),
        cwd=_text(said.get("cwd", "")),
        agent=_text(said.get("agent", "")),
        llvm=_text(said.get("llvm", "")),
        pid=int(said.get("pid", 0)),
        started=int(said.get("started", 0)),
        ir=_text(said.get("ir", "none")),
        events=_words(said.get("events")),
        threads=bool(said.get("threads", False)),
    )


def parse_ending(payload: bytes, ordinal_of: Callable[[int], int | None]) -> Ending:
    """Read the END section.

    Args:
        payload: of the section.
        ordinal_of: gives the ordinal of a row of the thread that wrote it.

    Raises:
        ValueError: it is no JSON object.
    """
    said = _parse(payload)
    if said.get("ended") == "exit":
        return Ending("exit", status=int(said.get("status", 0)))
    row = said.get("row")
    signal = int(said.get("signal", 0)) or None
    return Ending("crash", signal=signal, ordinal=None if row is None else ordinal_of(int(row)))


def _parse(payload: bytes) -> dict[str, Any]:
    said: Any = json.loads(payload.decode(errors="replace"))
    if not isinstance(said, dict):
        raise ValueError("it is no object")
    return {str(key): value for key, value in said.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _words(value: Sequence[Any] | None) -> tuple[str, ...]:
    return tuple(map(_text, value or ()))


def _text(value: object) -> str:
    """Return text that can be written as UTF-8: JSON may hold halves of characters."""
    return str(value).encode(errors="replace").decode()
