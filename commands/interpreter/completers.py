"""Completers of argument values, which the declarations of commands refer to."""

from __future__ import annotations

import contextlib
import re
import string
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, get_args

import msgspec

from actiondbg.breakpoints.condition import FIELDS
from actiondbg.breakpoints.spec_kinds import KINDS, PREFIXES
from actiondbg.breakpoints.targets import TARGETS
from actiondbg.commands.interpreter.settings import SETTINGS
from actiondbg.errors import ActiondbgError
from actiondbg.ir.tokens import VALUE
from actiondbg.protocol import CatchKind

if TYPE_CHECKING:
    from actiondbg.breakpoints.spec_kinds import Kind
    from actiondbg.commands.interpreter.console import Console

_VALUE = re.compile(VALUE)


class Typed(msgspec.Struct, frozen=True):
    """An incomplete command line.

    Attributes:
        before: the words between the command and the word to complete.
        word: the word to complete, up to the text cursor.
    """

    console: Console
    before: list[str]
    word: str


def matching(names: Iterable[str], word: str) -> list[str]:
    return [name for name in names if name.startswith(word)]


def files(_: Typed) -> None:
    return None


def tool_arguments(typed: Typed) -> list[str] | None:
    """Complete the options of the tool, else file names."""
    if not typed.word.startswith("-") or typed.console.recorded is not None:
        return None
    return matching(
        _available(lambda: typed.console.live_session().target.option_names()), typed.word
    )


# --- names of the tool ---------------------------------------------------------------


def _available(read: Callable[[], Iterable[str | None]]) -> list[str]:
    """Return names, each once; none if they are unavailable, as completion must not fail."""
    try:
        return list(dict.fromkeys(name for name in read() if name))
    except (ActiondbgError, OSError):
        return []


def _names(typed: Typed, kind: Kind) -> list[str]:
    names = _available(lambda: typed.console.session.names.get(kind))
    return [name for name in names if re.fullmatch(r"\S+", name)]


def _locations(typed: Typed) -> list[str]:
    """Return the input files with a colon, as a location begins."""
    return [f"{name}:" for name in _available(lambda: typed.console.session.names.inputs())]


def _values(typed: Typed) -> list[str]:
    """Return the names of values, those that were shown and those of the cursor's function."""
    ir = typed.console.session.ir
    names = list(ir.value_names)
    if typed.console.session.state == "stopped":
        with contextlib.suppress(ActiondbgError, OSError), ir.print("function") as printed:
            names += _VALUE.findall(printed.text)
    return list(dict.fromkeys(names))


def _completer(kind: Kind) -> Callable[[Typed], list[str]]:
    return lambda typed: matching(_names(typed, kind), typed.word)


tags = _completer("tag")
patterns = _completer("pattern")
passes = _completer("pass")
operations = _completer("op")


def _names_after(typed: Typed, prefix: str) -> list[str] | None:
    """Return the names that a kind of SPEC takes; None for a word that is none."""
    if prefix == "file":
        return _locations(typed)
    if prefix not in PREFIXES:
        return None
    kind = PREFIXES[prefix]
    if kind in ("context", "mlir"):
        attribute = "name" if kind == "context" else "mlir"
        session = typed.console.session
        return _available(lambda: [getattr(each, attribute) for each in session.contexts])
    names = KINDS[kind].names
    return [] if names is None else _names(typed, names)


def spec(typed: Typed) -> list[str] | None:
    """Complete a SPEC: kinds, then names of that kind; after ``if``, fields of conditions."""
    word = typed.word
    if "if" in typed.before:
        return matching(FIELDS, word)
    prefix, colon, _ = word.partition(":")
    if colon and (known := _names_after(typed, prefix)) is not None:
        return matching([f"{prefix}:{name}" for name in known], word)
    if word.startswith("@"):
        return matching([f"@{name}" for name in _names(typed, "func")], word)
    if colon or word.startswith(("./", "/", "~")):
        return None
    kinds = [f"{prefix}:" for prefix in (*PREFIXES, "file")]
    bare: tuple[Kind, ...] = ("pattern", "pass", "op", "func", "tag")
    names = [name for kind in bare for name in _names(typed, kind)]
    names += _locations(typed) if word else []
    return matching([*kinds, *names, *(["and", "if"] if typed.before else [])], word)


def alternative(typed: Typed) -> list[str]:
    """Complete what a run does otherwise, as ``whatif`` takes it."""
    from actiondbg.whatif.alternatives import FORMS

    begins = [
        place
        for place, word in enumerate(typed.before, 1)
        if word == "and" or word.endswith(";") or word.startswith("-")
    ]
    before = typed.before[max(begins, default=0) :]
    return _following(typed, before, (form for form in FORMS if form[0].islower()), "and")


def _following(typed: Typed, before: list[str], forms: Iterable[str], end: str) -> list[str]:
    """Complete a text that has one of some forms.

    Args:
        before: the words of the text before the one to complete.
        end: the word that may follow a whole form.
    """
    all_tokens = [[*form.split(), end] for form in forms]
    tokens = [
        each[len(before)]
        for each in all_tokens
        if len(before) < len(each) and all(map(_stands_for, before, each))
    ]
    return matching(
        dict.fromkeys(name for token in tokens for name in _standing_for(token, typed)), typed.word
    )


def _literal(token: str) -> str:
    """Return a token of a form without the placeholder at its end."""
    return token.rstrip(string.ascii_uppercase)


def _stands_for(word: str, token: str) -> bool:
    """Whether a word stands where a form has a token."""
    if token == "cursor":
        return word == token or word[:1] in "@%"
    start = _literal(token.strip("'"))
    return word == token if start == token else word.startswith(start)


_PLACEHOLDERS: dict[str, Kind] = {"PASS": "pass", "P": "pattern", "OP": "op", "GLOB": "op"}


def _standing_for(token: str, typed: Typed) -> list[str]:
    """Return what may stand where a form has a token: the token, or the names of a placeholder."""
    if token in ("cursor", "%SSA") and typed.word.startswith("%"):
        return _values(typed)
    start = _literal(token.strip("'"))
    placeholder = token.strip("'").removeprefix(start)
    if start and not typed.word.startswith(start):
        return [start] if start.strip("@%") else []
    names = _names(typed, _PLACEHOLDERS[placeholder]) if placeholder in _PLACEHOLDERS else []
    return [f"{start}{name}" for name in names] if placeholder else [start]


_TARGET_WORD = re.compile(r"""(?:op:)?(?:"[^"]*"|'[^']*')|\S+""")


def watched(typed: Typed) -> list[str]:
    if "if" in typed.before:
        return matching(FIELDS, typed.word)
    line = re.sub(r"op:\s+", "op:", " ".join(typed.before))
    before = [each for each in _TARGET_WORD.findall(line) if not each.startswith("-")]
    return _following(typed, before, TARGETS, "if")


def caught(typed: Typed) -> list[str]:
    """Complete the arguments of ``catch``: events, then passes for a failure, then a condition."""
    if "if" in typed.before:
        return matching(FIELDS, typed.word)
    if not typed.before:
        return matching(get_args(CatchKind), typed.word)
    names = passes(typed) if typed.before == ["failure"] else []
    return [*names, *matching(["if"], typed.word)]


def operation(typed: Typed) -> list[str]:
    """Complete the word cursor, and names of values."""
    if typed.word.startswith("%"):
        return matching(_values(typed), typed.word)
    return matching(["cursor"], typed.word)


def ir_places(typed: Typed) -> list[str] | None:
    """Complete a place in the IR: values, functions, words for units, or files of locations."""
    word = typed.word
    if word.startswith("%"):
        return matching(_values(typed), word)
    if word.startswith("@"):
        return matching([f"@{name}" for name in _names(typed, "func")], word)
    units = ("cursor", "action", "function", "module")
    return matching([*units, *_locations(typed)], word) or None


def places(typed: Typed) -> list[str]:
    """Complete the word cursor, and files of locations."""
    return matching(["cursor", *_locations(typed)], typed.word)


def locations(typed: Typed) -> list[str] | None:
    """Complete files of locations; where there are none, file names."""
    return matching(_locations(typed), typed.word) or None


# --- numbers ---------------------------------------------------------------------------


def _numbers(
    existing: Callable[[Console], Iterable[int]], *others: str
) -> Callable[[Typed], list[str]]:
    return lambda typed: matching([*map(str, existing(typed.console)), *others], typed.word)


breakpoint_numbers = _numbers(
    lambda console: (each.id for each in console.session.breakpoints.all()), "all"
)
display_numbers = _numbers(lambda console: (each.id for each in console.displays.all()), "all")
checkpoint_numbers = _numbers(
    lambda console: (each.number for each in console.session.timeline.checkpoints.all())
)


def skip_numbers(typed: Typed) -> list[str]:
    if typed.console.recorded is not None:
        return []
    existing = typed.console.live_session().skips.rules.all()
    return matching([*(str(each.id) for each in existing), "all"], typed.word)


# --- settings and commands ----------------------------------------------------------------


def settings(typed: Typed) -> list[str]:
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
    return matching(typed.console.interpreter.aliases.lines, typed.word)


def command_names(typed: Typed) -> list[str]:
    """Complete the arguments of ``help``: commands, topics and subcommands."""
    return typed.console.interpreter.complete_help(typed.before, typed.word)


def command_line(typed: Typed) -> list[str] | None:
    return typed.console.interpreter.complete_line(typed.before, typed.word)
