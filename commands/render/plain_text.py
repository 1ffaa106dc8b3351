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
    """Settings by name."""

    settings: dict[str, str]


class Facts(msgspec.Struct):
    """Named facts about the tool or the program; None for unknown ones."""

    title: str
    facts: dict[str, Fact]


class Display(msgspec.Struct):
    """A command line that runs at each stop."""

    id: int
    command: str


class Displays(msgspec.Struct):
    """A list of displays."""

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
        name: one word.
        line: the command line; in a macro, ``{1}`` is the place of the first argument, and
            ``{{1}}`` that text itself.
    """

    kind: AliasKind
    name: str
    line: str


class Aliases(msgspec.Struct):
    """A list of aliases or of macros."""

    kind: AliasKind
    aliases: list[Alias]


def _text(_: RenderContext, text: Text) -> str:
    return text.text


def _settings_text(_: RenderContext, shown: SettingsShown) -> str:
    return "\n".join(rows(shown.settings))


def _facts_text(_: RenderContext, facts: Facts) -> str:
    return "\n".join(rows(facts.facts))


def alias_text(_: RenderContext, __: Alias) -> str:
    return ""  # an init file that defines some prints nothing


def aliases_text(_: RenderContext, shown: Aliases) -> str:
    if not shown.aliases:
        return f"There are no {plural(shown.kind)}."
    return "\n".join(f"{each.kind} create {each.name} {each.line}" for each in shown.aliases)


def displays_text(_: RenderContext, shown: Displays) -> str:
    if not shown.displays:
        return "There are no displays."
    return "\n".join(f"{each.id}: {each.command}" for each in shown.displays)


def display_text(_: RenderContext, added: Display) -> str:
    return f"Display {added.id}: {added.command}"


def displayed_text(_: RenderContext, __: Displayed) -> str:
    return ""  # shown when it ran


def _facts_object(facts: Facts) -> object:
    return facts.facts


RENDERERS = (
    renders(Text, _text),
    renders(SettingsShown, _settings_text),
    renders(Facts, _facts_text, _facts_object),
    renders(Alias, alias_text),
    renders(Aliases, aliases_text),
    renders(Display, display_text),
    renders(Displays, displays_text),
    renders(Displayed, displayed_text),
)
