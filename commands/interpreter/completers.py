"""Completers of argument values, which the declarations of commands refer to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, get_args

import msgspec

from actiondbg.breakpoints.condition import CONDITION_FIELDS
from actiondbg.commands.interpreter.settings import SETTINGS
from actiondbg.errors import ActiondbgError
from actiondbg.protocol import CatchKind

if TYPE_CHECKING:
    from actiondbg.breakpoints.resolution import Kind
    from actiondbg.commands.interpreter.console import Console

_KINDS: dict[str, Kind] = {
    "tag": "tag",
    "pattern": "pattern",
    "pass": "pass",
    "fold": "op",
    "op": "op",
    "in": "pass",
}


class Typed(msgspec.Struct, frozen=True):
    """An incomplete command line.

    Attributes:
        console: the console, for the names and breakpoints of its session.
        before: the words between the command and the word to complete.
        word: the word to complete, up to the text cursor.
    """

    console: Console
    before: list[str]
    word: str


# Returns the completions of the word; None: complete a file name.
Completer = Callable[[Typed], list[str] | None]


def matching(names: Iterable[str], word: str) -> list[str]:
    """Return the names that begin with a word."""
    return [name for name in names if name.startswith(word)]


def files(_: Typed) -> None:
    """Complete file names."""
    return None


def ir_places(typed: Typed) -> list[str] | None:
    """Complete a place in the IR: the names of values, words for units, or file names."""
    if typed.word.startswith("%"):
        return matching(typed.console.session.ir.value_names, typed.word)
    words = matching(("cursor", "action", "function", "module"), typed.word)
    return words or None


# --- names of the tool ---------------------------------------------------------------


def _names(typed: Typed, kind: Kind) -> list[str]:
    """Return the names of a kind; none if they are unavailable, as completion must not fail."""
    try:
        return [
            name for name in typed.console.session.names.get(kind) if re.fullmatch(r"\S+", name)
        ]
    except (ActiondbgError, OSError):
        return []


def tags(typed: Typed) -> list[str]:
    """Complete tags of actions."""
    return matching(_names(typed, "tag"), typed.word)


def patterns(typed: Typed) -> list[str]:
    """Complete names of patterns."""
    return matching(_names(typed, "pattern"), typed.word)


def passes(typed: Typed) -> list[str]:
    """Complete arguments of passes."""
    return matching(_names(typed, "pass"), typed.word)


def operations(typed: Typed) -> list[str]:
    """Complete names of operations."""
    return matching(_names(typed, "op"), typed.word)


def spec(typed: Typed) -> list[str] | None:
    """Complete a SPEC: kinds, then names of that kind; after ``if``, fields of conditions."""
    word = typed.word
    if "if" in typed.before:
        return matching(CONDITION_FIELDS, word)
    prefix, colon, _ = word.partition(":")
    if colon and prefix in _KINDS:
        return matching([f"{prefix}:{name}" for name in _names(typed, _KINDS[prefix])], word)
    if colon or word.startswith(("./", "/", "~")):
        return None
    kinds = [f"{kind}:" for kind in (*_KINDS, "func", "file")]
    bare: tuple[Kind, ...] = ("pattern", "pass", "op", "func", "tag")
    names = [name for kind in bare for name in _names(typed, kind)]
    return matching([*kinds, *names, *(["and", "if"] if typed.before else [])], word)


def watched(typed: Typed) -> list[str]:
    """Complete the arguments of ``watch``."""
    word = typed.word
    if "if" in typed.before:
        return matching(CONDITION_FIELDS, word)
    if word.startswith("op:"):
        return matching([f"op:{name}" for name in _names(typed, "op")], word)
    before = [each for each in typed.before if not each.startswith("-")]
    if not before:
        return matching(["cursor", "attribute", "op:"], word)
    following = {"of": ["cursor"], "attribute": []}.get(before[-1])
    if following is None:
        following = ["of"] if before[0] == "attribute" and "of" not in before else ["if"]
        following = ["count"] if before[-1].startswith("op:") else following
    return matching(following, word)


def caught(typed: Typed) -> list[str]:
    """Complete the arguments of ``catch``: events, then passes for a failure."""
    if not typed.before:
        return matching(get_args(CatchKind), typed.word)
    return passes(typed) if typed.before == ["failure"] else []


def places(typed: Typed) -> list[str]:
    """Complete the word cursor."""
    return matching(["cursor"], typed.word)


# --- numbers ---------------------------------------------------------------------------


def breakpoint_numbers(typed: Typed) -> list[str]:
    """Complete numbers of breakpoints."""
    existing = typed.console.session.breakpoints.all()
    return matching([*(str(each.id) for each in existing), "all"], typed.word)


def display_numbers(typed: Typed) -> list[str]:
    """Complete numbers of displays."""
    existing = typed.console.displays.all()
    return matching([*(str(each.id) for each in existing), "all"], typed.word)


def skip_numbers(typed: Typed) -> list[str]:
    """Complete numbers of skip rules."""
    if typed.console.recorded is not None:
        return []
    existing = typed.console.live_session().skips.rules.all()
    return matching([*(str(each.id) for each in existing), "all"], typed.word)


def checkpoint_numbers(typed: Typed) -> list[str]:
    """Complete numbers of checkpoints."""
    existing = typed.console.session.timeline.checkpoints.all()
    return matching([str(each.number) for each in existing], typed.word)


# --- settings and commands ----------------------------------------------------------------


def settings(typed: Typed) -> list[str]:
    """Complete names of settings."""
    return matching(SETTINGS, typed.word)


def setting_values(typed: Typed) -> list[str]:
    """Complete values of the setting before the word."""
    name = typed.before[-1] if typed.before else ""
    if name == "style":
        from actiondbg.ir.lexer import style_names

        return matching(["off", *style_names()], typed.word)
    setting = SETTINGS.get(name)
    return matching((setting and setting.choices) or (), typed.word)


def aliases(typed: Typed) -> list[str]:
    """Complete names of aliases and macros."""
    return matching(typed.console.interpreter.aliases.lines, typed.word)


def command_names(typed: Typed) -> list[str]:
    """Complete the arguments of ``help``: commands, topics and subcommands."""
    return typed.console.interpreter.complete_help(typed.before, typed.word)


def command_line(typed: Typed) -> list[str] | None:
    """Complete a command line that is an argument."""
    return typed.console.interpreter.complete_line(typed.before, typed.word)
