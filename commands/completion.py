"""What Tab offers after a command's name, from the declarations; without cmd2."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from actiondbg.commands import manual
from actiondbg.commands.command import COMMANDS, Command
from actiondbg.commands.settings import SETTINGS
from actiondbg.errors import ActiondbgError
from actiondbg.names import NameKind

if TYPE_CHECKING:
    from actiondbg.commands.front import Front

_KINDS: dict[str, NameKind] = {
    "tag": "tag",
    "pattern": "pattern",
    "pass": "pass",
    "fold": "op",
    "op": "op",
}
_FIELDS = ("ordinal", "depth", "iteration", "line", "hits", "tag", "name", "op", "file", "func")


def candidates(front: Front, command: Command, before: list[str], word: str) -> list[str] | None:
    """Return what the word at the cursor can become; None: a file's name.

    Args:
        front: whose session knows names and breakpoints.
        command: the command of the line.
        before: the words between the command and the cursor.
        word: what is typed of the word, up to the cursor.
    """
    if word.startswith("-"):
        options = [argument.name for argument in command.arguments]
        return _matching(options, word)
    if command.raw is not None:
        return _candidates_of_kind(front, command.complete, before, word)
    positional = [a for a in command.arguments if not a.name.startswith("-")]
    if not positional:
        return []
    argument = positional[min(_position(command, before), len(positional) - 1)]
    if argument.words:
        return _matching(list(argument.words), word)
    return _candidates_of_kind(front, argument.complete, before, word)


def _position(command: Command, before: list[str]) -> int:
    """Return how many positional words stand before the cursor."""
    valued = {
        a.name for a in command.arguments if a.name.startswith("-") and "action" not in a.options
    }
    position = 0
    for previous, current in zip(["", *before], before, strict=False):
        position += not current.startswith("-") and previous not in valued
    return position


def _candidates_of_kind(
    front: Front, kind: str | None, before: list[str], word: str
) -> list[str] | None:
    if kind == "file":
        return None
    if kind == "spec":
        return _spec(front, before, word)
    if kind in _KINDS:
        return _matching(_names(front, _KINDS[kind]), word)
    plain: dict[str | None, list[str]] = {
        "breakpoint": [*(str(b.id) for b in front.session.breakpoints), "all"],
        "command": [*COMMANDS, *manual.TOPICS],
        "setting": list(SETTINGS),
    }
    if kind == "value":
        return _matching(_values(before), word)
    return _matching(plain.get(kind, []), word)


def _values(before: list[str]) -> list[str]:
    name = before[-1] if before else ""
    if name == "style":
        from actiondbg.highlight import style_names

        return ["off", *style_names()]
    setting = SETTINGS.get(name)
    return list(setting.choices) if setting and setting.choices else []


def _spec(front: Front, before: list[str], word: str) -> list[str] | None:
    """Offer the parts of a SPEC: kinds, then names of that kind; after ``if``, fields."""
    if "if" in before:
        return _matching(list(_FIELDS), word)
    prefix, colon, _ = word.partition(":")
    if colon and prefix in _KINDS:
        return _matching([f"{prefix}:{name}" for name in _names(front, _KINDS[prefix])], word)
    if colon or word.startswith(("./", "/", "~")):
        return None
    kinds = [f"{kind}:" for kind in (*_KINDS, "func", "file")]
    bare: tuple[NameKind, ...] = ("pattern", "pass", "tag")
    names = [name for kind in bare for name in _names(front, kind)]
    return _matching([*kinds, *names, *(["and", "if"] if before else [])], word)


def _names(front: Front, kind: NameKind) -> list[str]:
    """Return the names of a kind; completing must not fail, so none where they cannot be had."""
    try:
        return [name for name in front.session.names(kind) if re.fullmatch(r"\S+", name)]
    except (ActiondbgError, OSError, argparse.ArgumentError):
        return []


def _matching(names: list[str], word: str) -> list[str]:
    return [name for name in names if name.startswith(word)]
