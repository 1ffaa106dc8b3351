"""Alternatives: what a run does otherwise, and their notation.

``pattern:P off``, ``pattern:P on``, ``drop PASS``, ``append PIPELINE``, ``benefit P N``; ``and``
joins changes into one alternative, ``;`` separates alternatives.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from actiondbg.errors import UsageError
from actiondbg.support.globs import check_glob

HIGHEST = 0xFFFE  # the highest benefit of MLIR
FORMS = "pattern:P off|on, drop PASS, append 'PIPELINE', benefit P N"
_PATTERN, _PASS = "pattern:", "pass:"


class PatternSwitch(msgspec.Struct, frozen=True, tag="pattern"):
    """A pattern is skipped; or it is tried before all others, and no rule skips it.

    Attributes:
        pattern: its name, a glob.
        on: whether it is tried first, instead of skipped.
    """

    pattern: str
    on: bool

    @property
    def text(self) -> str:
        """The change as commands take it."""
        return f"{_PATTERN}{shlex.quote(self.pattern)} {'on' if self.on else 'off'}"


class DroppedPass(msgspec.Struct, frozen=True, tag="drop"):
    """A pass is skipped; ``name`` is a glob."""

    name: str

    @property
    def text(self) -> str:
        """The change as commands take it."""
        return f"drop {shlex.quote(self.name)}"


class AppendedPipeline(msgspec.Struct, frozen=True, tag="append"):
    """A textual pipeline runs after the tool's, such as ``cse,func.func(canonicalize)``."""

    pipeline: str

    @property
    def text(self) -> str:
        """The change as commands take it."""
        return f"append {shlex.quote(self.pipeline)}"


class ChangedBenefit(msgspec.Struct, frozen=True, tag="benefit"):
    """A pattern has another benefit; ``pattern`` is a glob."""

    pattern: str
    benefit: int

    @property
    def text(self) -> str:
        """The change as commands take it."""
        return f"benefit {shlex.quote(self.pattern)} {self.benefit}"


Change = PatternSwitch | DroppedPass | AppendedPipeline | ChangedBenefit


class Alternative(msgspec.Struct, frozen=True):
    """Changes that a run makes together; none of them for the run as it is."""

    changes: tuple[Change, ...] = ()

    @property
    def text(self) -> str:
        """The alternative as commands take it."""
        return " and ".join(change.text for change in self.changes) or "as it is"


def parse_alternatives(text: str) -> list[Alternative]:
    """Parse alternatives, separated by semicolons.

    Raises:
        UsageError: a syntax error, or there is no alternative.
    """
    found = [Alternative(tuple(_changes(words))) for words in _split(_words(text), ";")]
    if not found:
        raise UsageError(f"There is no alternative: give one of {FORMS}.")
    return found


def _words(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return [word.strip(";") or ";" for word in lexer]
    except ValueError as error:
        raise UsageError(f"A quote is not closed in {text!r}: close it.") from error


def _split(words: Sequence[str], separator: str) -> Iterator[list[str]]:
    """Yield the words between separators, without empty parts."""
    part: list[str] = []
    for word in [*words, separator]:
        if word != separator:
            part.append(word)
        elif part:
            yield part
            part = []


def _changes(words: list[str]) -> Iterable[Change]:
    return (_change(part) for part in _split(words, "and"))


def _change(words: list[str]) -> Change:
    first, *rest = words
    if first.startswith(_PATTERN) and len(rest) == 1 and rest[0] in ("on", "off"):
        return PatternSwitch(_glob(first.removeprefix(_PATTERN)), rest[0] == "on")
    if first == "drop" and len(rest) == 1:
        return DroppedPass(_glob(rest[0].removeprefix(_PASS)))
    if first == "append" and len(rest) == 1:
        return AppendedPipeline(rest[0])
    if first == "append" and rest:
        raise UsageError(f"{shlex.join(words)!r} is no alternative: put the pipeline into quotes.")
    if first == "benefit" and len(rest) == 2:
        return ChangedBenefit(_glob(rest[0].removeprefix(_PATTERN)), _benefit(rest[1]))
    if first.startswith("#"):
        raise UsageError(
            f"{shlex.join(words)!r} is no alternative: to leave out one action, 'goto {first}' and "
            "'skip'."
        )
    raise UsageError(f"{shlex.join(words)!r} is no alternative: give one of {FORMS}.")


def _glob(text: str) -> str:
    if not text:
        raise UsageError("The name is missing in an alternative: write it, or a glob.")
    check_glob(text, text, 0)
    return text


def _benefit(text: str) -> int:
    if not text.isdecimal() or int(text) > HIGHEST:
        raise UsageError(f"{text!r} is no benefit: give an integer from 0 to {HIGHEST:,}.")
    return int(text)
