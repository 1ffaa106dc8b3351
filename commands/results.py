"""What commands return beside the objects of Session; docs/commands.md documents the keys."""

from __future__ import annotations

from typing import Any

import msgspec

from actiondbg.breakpoints import Breakpoint
from actiondbg.protocol import Frame, Unit


class Text(msgspec.Struct):
    """Words for people: help, echo, a confirmation."""

    text: str


class Backtrace(msgspec.Struct):
    """The stack of actions, innermost first, and which of them is selected."""

    frames: list[Frame]
    selected: int


class Units(msgspec.Struct):
    """IR units, numbered from 0, as cursor-select-from-context and others take them."""

    units: list[Unit]


class Breakpoints(msgspec.Struct):
    """Breakpoints (JSON has their public fields)."""

    breakpoints: list[Breakpoint]


class SettingsShown(msgspec.Struct):
    """Settings by name."""

    settings: dict[str, str]


class Facts(msgspec.Struct):
    """Named facts about the tool or the program; None where a fact is not known now."""

    title: str
    facts: dict[str, Any]


class Written(msgspec.Struct):
    """IR that was sent elsewhere: ``operator`` is >, >> or |, ``bytes`` is its length."""

    target: str
    operator: str
    bytes: int


class Printed(msgspec.Struct):
    """IR as JSON gives it; ``generic`` is whether it is in the generic form."""

    text: str
    generic: bool


class CursorPlace(msgspec.Struct):
    """Where the cursor is (info cursor); ``path`` as docs/protocol.md has it."""

    kind: str
    name: str | None
    state: str
    text: str | None
    location: str | None
    function: str | None
    path: list[int]
