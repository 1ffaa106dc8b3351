"""What Tab offers as the value of an argument; the declarations name these functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, get_args

import msgspec

from actiondbg.commands.interpreter.settings import SETTINGS
from actiondbg.errors import ActiondbgError
from actiondbg.protocol import CatchKind

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.tool.known_names import NameKind

_KINDS: dict[str, NameKind] = {
    "tag": "tag",
    "pattern": "pattern",
    "pass": "pass",
    "fold": "op",
    "op": "op",
}
_FIELDS = ("ordinal", "depth", "iteration", "line", "hits", "tag", "name", "op", "file", "func")


class Typed(msgspec.Struct, frozen=True):
    """A line that is being typed.

    Attributes:
        console: whose session knows names and breakpoints.
        before: the words between the command and the cursor.
        word: what is typed of the word at the cursor.
    """

    console: Console
    before: list[str]
    word: str


# Returns what the word can become; None: the name of a file.
Completer = Callable[[Typed], list[str] | None]


def matching(names: Iterable[str], word: str) -> list[str]:
    """Return the names that begin with what is typed."""
    return [name for name in names if name.startswith(word)]


def files(_: Typed) -> None:
    """Offer files."""
    return None


# --- names that the tool has ---------------------------------------------------------


def _names(typed: Typed, kind: NameKind) -> list[str]:
    """Return the names of a kind; completing must not fail, so none where they cannot be had."""
    try:
        return [
            name for name in typed.console.session.names.get(kind) if re.fullmatch(r"\S+", name)
        ]
    except (ActiondbgError, OSError):
        return []


def tags(typed: Typed) -> list[str]:
    """Offer the tags of actions."""
    return matching(_names(typed, "tag"), typed.word)


def patterns(typed: Typed) -> list[str]:
    """Offer the names of patterns."""
    return matching(_names(typed, "pattern"), typed.word)


def passes(typed: Typed) -> list[str]:
    """Offer the arguments of passes."""
    return matching(_names(typed, "pass"), typed.word)


def operations(typed: Typed) -> list[str]:
    """Offer the names of operations."""
    return matching(_names(typed, "op"), typed.word)


def spec(typed: Typed) -> list[str] | None:
    """Offer the parts of a SPEC: kinds, then names of that kind; after ``if``, fields."""
    word = typed.word
    if "if" in typed.before:
        return matching(_FIELDS, word)
    prefix, colon, _ = word.partition(":")
    if colon and prefix in _KINDS:
        return matching([f"{prefix}:{name}" for name in _names(typed, _KINDS[prefix])], word)
    if colon or word.startswith(("./", "/", "~")):
        return None
    kinds = [f"{kind}:" for kind in (*_KINDS, "func", "file")]
    bare: tuple[NameKind, ...] = ("pattern", "pass", "tag")
    names = [name for kind in bare for name in _names(typed, kind)]
    return matching([*kinds, *names, *(["and", "if"] if typed.before else [])], word)


def watched(typed: Typed) -> list[str]:
    """Offer the parts of what is watched."""
    word = typed.word
    if "if" in typed.before:
        return matching(_FIELDS, word)
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
    """Offer what is caught; after a failure, passes."""
    if not typed.before:
        return matching(get_args(CatchKind), typed.word)
    return passes(typed) if typed.before == ["failure"] else []


def places(typed: Typed) -> list[str]:
    """Offer the operation at the cursor."""
    return matching(["cursor"], typed.word)


# --- numbers ---------------------------------------------------------------------------


def breakpoint_numbers(typed: Typed) -> list[str]:
    """Offer the numbers of breakpoints."""
    existing = typed.console.session.breakpoints.all()
    return matching([*(str(each.id) for each in existing), "all"], typed.word)


def display_numbers(typed: Typed) -> list[str]:
    """Offer the numbers of displays."""
    existing = typed.console.displays.all()
    return matching([*(str(each.id) for each in existing), "all"], typed.word)


def checkpoint_numbers(typed: Typed) -> list[str]:
    """Offer the numbers of checkpoints."""
    existing = typed.console.session.timeline.checkpoints.all()
    return matching([str(each.number) for each in existing], typed.word)


# --- settings and commands ----------------------------------------------------------------


def settings(typed: Typed) -> list[str]:
    """Offer the names of settings."""
    return matching(SETTINGS, typed.word)


def setting_values(typed: Typed) -> list[str]:
    """Offer the values of the setting that is named before."""
    name = typed.before[-1] if typed.before else ""
    if name == "style":
        from actiondbg.ir.lexer import style_names

        return matching(["off", *style_names()], typed.word)
    setting = SETTINGS.get(name)
    return matching((setting and setting.choices) or (), typed.word)


def command_names(typed: Typed) -> list[str]:
    """Offer commands and topics for ``help``; after a command, its subcommands."""
    return typed.console.interpreter.offer_names(typed.before, typed.word)


def command_line(typed: Typed) -> list[str] | None:
    """Offer what a command line in a command can become."""
    return typed.console.interpreter.offer_line(typed.before, typed.word)
