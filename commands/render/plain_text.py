"""Plain text, settings, facts about the program, and displays."""

from __future__ import annotations

from typing import Literal

import msgspec

from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.units import rows
from actiondbg.support.counts import plural

Fact = str | int | bool | list[str] | None


class Text(msgspec.Struct):
    """Plain text: help, echo, a confirmation."""

    text: str


class SettingsShown(msgspec.Struct):
    settings: dict[str, str]


class Facts(msgspec.Struct):
    """Named facts about the tool or the program; None for unknown ones."""

    title: str
    facts: dict[str, Fact]


class Display(msgspec.Struct):
    id: int
    command: str


class Displays(msgspec.Struct):
    displays: list[Display]


class Displayed(msgspec.Struct):
    """The result of a display as JSON, or its error; the text has been shown already."""

    id: int
    command: str
    ok: bool
    result: object = None
    error: str | None = None


AliasKind = Literal["alias", "macro"]


class Alias(msgspec.Struct, frozen=True):
    """A name for a command line.

    Attributes:
        kind: whether the line has places for arguments.
        line: the command line; in a macro, ``{1}`` is the place of the first argument, and
            ``{{1}}`` that text itself.
    """

    kind: AliasKind
    name: str
    line: str


class Aliases(msgspec.Struct):
    kind: AliasKind
    aliases: list[Alias]


def aliases_text(_: RenderContext, shown: Aliases) -> str:
    if not shown.aliases:
        return f"There are no {plural(shown.kind)}."
    return "\n".join(f"{each.kind} create {each.name} {each.line}" for each in shown.aliases)


def displays_text(_: RenderContext, shown: Displays) -> str:
    if not shown.displays:
        return "There are no displays."
    return "\n".join(f"{each.id}: {each.command}" for each in shown.displays)


RENDERERS = (
    renders(Text, lambda _, shown: shown.text),
    renders(SettingsShown, lambda _, shown: "\n".join(rows(shown.settings))),
    renders(Facts, lambda _, shown: "\n".join(rows(shown.facts)), lambda shown: shown.facts),
    renders(Alias, lambda _, __: ""),  # an init file that defines some prints nothing
    renders(Aliases, aliases_text),
    renders(Display, lambda _, added: f"Display {added.id}: {added.command}"),
    renders(Displays, displays_text),
    renders(Displayed, lambda _, __: ""),  # shown when it ran
)
