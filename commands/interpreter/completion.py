"""What Tab offers after a command's name, from the declarations; without cmd2."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, get_args

from actiondbg.commands.interpreter import help as manual
from actiondbg.commands.interpreter.declaration import COMMANDS, Argument, Command
from actiondbg.commands.interpreter.settings import SETTINGS
from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.protocol import CatchKind
from actiondbg.tool.known_names import NameKind

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Front

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
    if command.subjects and (before or not command.arguments):
        return _of_subject(front, command, before, word)
    if command.subjects:
        names = _of_arguments(front, command, before, word) or []
        return names + _matching(list(command.subjects), word)
    return _of_arguments(front, command, before, word)


def _of_arguments(front: Front, command: Command, before: list[str], word: str) -> list[str] | None:
    """Offer options, and the values of the command's own arguments."""
    options = {a.name: a for a in command.arguments if a.is_option}
    if before and before[-1] in options and options[before[-1]].takes_value:
        return _of_argument(front, options[before[-1]], before, word)
    if word.startswith("-"):
        return _matching(list(options), word)
    if command.raw is not None:
        return _candidates_of_kind(front, command.complete, before, word)
    positional = [a for a in command.arguments if not a.is_option]
    if not positional:
        return []
    argument = positional[min(_position(command, before), len(positional) - 1)]
    return _of_argument(front, argument, before, word)


def _of_subject(front: Front, command: Command, before: list[str], word: str) -> list[str] | None:
    if not before:
        return _matching(list(command.subjects), word)
    try:
        found, _ = command.resolve(before[0])
    except UsageError:
        return []
    if found is command:
        return _of_arguments(front, command, before, word)
    return candidates(front, found, before[1:], word)


def _of_argument(
    front: Front, argument: Argument, before: list[str], word: str
) -> list[str] | None:
    """Offer the values of an argument; of a list with commas, those of its last part."""
    if not argument.words:
        return _candidates_of_kind(front, argument.complete, before, word)
    done, comma, _ = word.rpartition(",")
    return _matching([f"{done}{comma}{each}" for each in argument.words], word)


def _position(command: Command, before: list[str]) -> int:
    """Return how many positional words stand before the cursor."""
    valued = {a.name for a in command.arguments if a.is_option and a.takes_value}
    position = 0
    for previous, current in zip(["", *before], before, strict=False):
        position += not current.startswith("-") and previous not in valued
    return position


def _candidates_of_kind(
    front: Front, kind: str | None, before: list[str], word: str
) -> list[str] | None:
    if kind == "file":
        return None
    if kind in _SPECIAL:
        return _SPECIAL[kind](front, before, word)
    if kind in _KINDS:
        return _matching(_names(front, _KINDS[kind]), word)
    plain: dict[str | None, list[str]] = {
        "display": [*(str(each.id) for each in front.displays.all()), "all"],
        "where": ["cursor"],
        "breakpoint": [*(str(b.id) for b in front.session.breakpoints), "all"],
        "checkpoint": [str(each.number) for each in front.session.checkpoints()],
        "setting": list(SETTINGS),
        "value": _values(before),
    }
    return _matching(plain.get(kind, []), word)


def _values(before: list[str]) -> list[str]:
    name = before[-1] if before else ""
    if name == "style":
        from actiondbg.ir.lexer import style_names

        return ["off", *style_names()]
    setting = SETTINGS.get(name)
    return list(setting.choices) if setting and setting.choices else []


def _commands(_: Front, before: list[str], word: str) -> list[str]:
    """Offer commands and topics for ``help``; after a command, its subjects."""
    if before:
        found = COMMANDS.get(before[-1])
        return _matching(list(found.subjects) if found else [], word)
    return _matching([*COMMANDS, *manual.TOPICS], word)


def _line(front: Front, before: list[str], word: str) -> list[str] | None:
    """Offer what a command line in a command can become."""
    if not before:
        return _matching(list(COMMANDS), word)
    found = COMMANDS.get(before[0])
    return candidates(front, found, before[1:], word) if found else []


def _watch(front: Front, before: list[str], word: str) -> list[str]:
    """Offer the parts of what is watched."""
    if "if" in before:
        return _matching(list(_FIELDS), word)
    if word.startswith("op:"):
        return _matching([f"op:{name}" for name in _names(front, "op")], word)
    before = [each for each in before if not each.startswith("-")]
    if not before:
        return _matching(["cursor", "attribute", "op:"], word)
    following = {"of": ["cursor"], "attribute": []}.get(before[-1])
    if following is None:
        following = ["of"] if before[0] == "attribute" and "of" not in before else ["if"]
        following = ["count"] if before[-1].startswith("op:") else following
    return _matching(following, word)


def _catch(front: Front, before: list[str], word: str) -> list[str]:
    """Offer what is caught; after a failure, passes."""
    if not before:
        return _matching(list(get_args(CatchKind)), word)
    return _matching(_names(front, "pass") if before == ["failure"] else [], word)


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


_SPECIAL: dict[str | None, Callable[[Front, list[str], str], list[str] | None]] = {
    "catch": _catch,
    "command": _commands,
    "line": _line,
    "spec": _spec,
    "watch": _watch,
}


def _matching(names: list[str], word: str) -> list[str]:
    return [name for name in names if name.startswith(word)]
