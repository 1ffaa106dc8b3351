"""The header of a recording: what was recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Header:
    """The recorded run.

    Args:
        agent: the version of the agent.
        llvm: the version of the tool's LLVM.
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


def parse_header(payload: bytes) -> Header:
    """Parse the HEADER section; missing fields get the defaults of ``Header``.

    Raises:
        ValueError: the payload is not a JSON object.
    """
    found = parse_object(payload)
    known = [field for field in fields(Header) if field.name in found]
    return Header(**{field.name: _READERS[str(field.type)](found[field.name]) for field in known})


def parse_object(payload: bytes) -> dict[str, Any]:
    """Parse a section of JSON; raises ValueError if it is no object."""
    fields: Any = json.loads(payload.decode(errors="replace"))
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")
    return {str(key): value for key, value in fields.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _words(value: Sequence[Any] | None) -> tuple[str, ...]:
    return tuple(map(plain_text, value or ()))


def plain_text(value: object) -> str:
    """Return text that can be encoded as UTF-8: JSON may hold lone surrogates."""
    return str(value).encode(errors="replace").decode()


# By the annotation of a field of ``Header``.
_READERS: dict[str, Callable[[Any], Any]] = {
    "tuple[str, ...]": _words,
    "str": plain_text,
    "int": int,
    "bool": bool,
}
