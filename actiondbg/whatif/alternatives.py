"""Alternatives: what a run does otherwise, and their notation (docs/whatif.md).

``and`` joins changes into one alternative, ``;`` separates alternatives.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Literal

import msgspec

from actiondbg.analysis.textual_pipelines import depths, split_outside
from actiondbg.errors import UsageError
from actiondbg.support.counts import joined
from actiondbg.support.globs import check_glob

HIGHEST = 0xFFFE  # the highest benefit of MLIR
# The forms of a change, with their meanings. A word in capitals is a placeholder.
FORMS = {
    "pattern:P off": "skip a pattern",
    "pattern:P off in PASS": "skip a pattern in one pass",
    "pattern:P on": "try a pattern first",
    "fold:OP off": "skip the folds of an operation",
    "fold:OP off in PASS": "skip the folds of an operation in one pass",
    "drop PASS": "leave a pass out",
    "PASS{OPTION=VALUE ...}": "change options of a pass",
    "replace PASS with 'PIPELINE'": "run other passes instead",
    "insert 'PIPELINE' before PASS": "run more passes before a pass",
    "insert 'PIPELINE' after PASS": "run more passes after a pass",
    "move PASS before PASS": "change the order of passes",
    "move PASS after PASS": "change the order of passes",
    "swap PASS PASS": "change the order of passes",
    "append 'PIPELINE'": "run more passes at the end",
    "benefit P N": "change the benefit of a pattern",
}
_HELP = (
    "write one such as 'drop cse#2', 'pattern:P off' or 'swap cse canonicalize'; 'help whatif' "
    "lists the forms"
)
Side = Literal["before", "after"]
_SWITCHES: dict[str, Literal["pattern", "fold"]] = {"pattern:": "pattern", "fold:": "fold"}
_PASS = "pass:"
_REFERENCE = re.compile(r"(?P<name>[^#{}]*)(?:#(?P<number>[0-9]+))?")
_WITH_OPTIONS = re.compile(r"(?P<reference>[^{}]+)\{(?P<options>.*)\}", re.DOTALL)


class PassReference(msgspec.Struct, frozen=True):
    """A pass of the tool's pipeline."""

    name: str  # a glob
    # Selects the place of this run of the pass, counted from 1 over the whole run; None for all
    # places.
    number: int | None = None

    def __str__(self) -> str:
        return self.name if self.number is None else f"{self.name}#{self.number}"


class Switch(msgspec.Struct, frozen=True, tag="switch"):
    """A pattern or the folds of an operation are skipped, or a pattern is tried before others."""

    kind: Literal["pattern", "fold"]  # what is switched
    name: str  # the name of the pattern or of the operation, a glob
    on: bool = False  # whether the pattern is tried first, and no rule skips it, instead of skipped
    inside: PassReference | None = None  # the pass in which it is skipped; None for all passes

    @property
    def text(self) -> str:
        where = "" if self.inside is None else f" in {_word(self.inside)}"
        return f"{self.kind}:{shlex.quote(self.name)} {'on' if self.on else 'off'}{where}"


class _Written(msgspec.Struct, frozen=True):
    """A change whose notation is its fields, quoted as words, in a form."""

    form: ClassVar[str]

    @property
    def text(self) -> str:
        fields = msgspec.structs.asdict(self)
        return self.form.format(**{name: _word(value) for name, value in fields.items()})


class DroppedPass(_Written, frozen=True, tag="drop"):
    """A pass is skipped."""

    form = "drop {reference}"
    reference: PassReference


class ReplacedPass(_Written, frozen=True, tag="replace"):
    """A pipeline runs in the place of a pass, on the same operation."""

    form = "replace {reference} with {pipeline}"
    reference: PassReference
    pipeline: str


class ChangedOptions(msgspec.Struct, frozen=True, tag="options"):
    """A pass has other options; ``options`` as in a pipeline. It keeps those that are not given."""

    reference: PassReference
    options: str

    @property
    def text(self) -> str:
        return f"{_word(self.reference)}{{{self.options}}}"


class InsertedPipeline(_Written, frozen=True, tag="insert"):
    """A pipeline runs before or after a pass, on the same operation."""

    form = "insert {pipeline} {side} {reference}"
    pipeline: str
    side: Side
    reference: PassReference


class MovedPass(_Written, frozen=True, tag="move"):
    """A pass runs before or after another one, with the same options."""

    form = "move {reference} {side} {other}"
    reference: PassReference
    side: Side
    other: PassReference


class SwappedPasses(_Written, frozen=True, tag="swap"):
    """Two passes exchange their places."""

    form = "swap {first} {second}"
    first: PassReference
    second: PassReference


class AppendedPipeline(_Written, frozen=True, tag="append"):
    """A textual pipeline runs after the tool's, such as ``cse,func.func(canonicalize)``."""

    form = "append {pipeline}"
    pipeline: str


class ChangedBenefit(_Written, frozen=True, tag="benefit"):
    """A pattern has another benefit; ``pattern`` is a glob."""

    form = "benefit {pattern} {benefit}"
    pattern: str
    benefit: int


PlacedChange = ReplacedPass | ChangedOptions | InsertedPipeline | MovedPass | SwappedPasses
# The ``text`` of each is as commands take it.
Change = Switch | DroppedPass | PlacedChange | AppendedPipeline | ChangedBenefit


class Alternative(msgspec.Struct, frozen=True):
    """Changes that a run makes together; none of them for the run as it is."""

    changes: tuple[Change, ...] = ()

    @property
    def text(self) -> str:
        """The alternative as commands take it."""
        return " and ".join(change.text for change in self.changes) or "as it is"

    @property
    def is_placed(self) -> bool:
        """Whether it changes single places of the pipeline."""
        return any(_is_placed(change) for change in self.changes)

    @property
    def names_places(self) -> bool:
        """Whether it names passes, which may be at several places of the pipeline."""
        return self.is_placed or any(isinstance(each, DroppedPass) for each in self.changes)


def parse_alternatives(text: str) -> list[Alternative]:
    """Parse alternatives, separated by semicolons or each in quotes.

    Raises:
        UsageError: a syntax error, or there is no alternative.
    """
    words = _words(text)
    if all(" " in word for word in words):
        text = ";".join(words)
    found = [
        Alternative(tuple(_change(part) for part in _parts(_words(each), "and")))
        for each in _split(text, ";")
        if each.strip()
    ]
    if not found:
        raise UsageError(f"There is no alternative: {_HELP}.")
    return found


def _is_placed(change: Change) -> bool:
    if isinstance(change, DroppedPass):
        return change.reference.number is not None
    if isinstance(change, Switch):
        return change.inside is not None and change.inside.number is not None
    return isinstance(change, PlacedChange)


# --- words -------------------------------------------------------------------------------


def _split(text: str, separator: str) -> list[str]:
    try:
        return list(split_outside(text, separator, strict=True))
    except ValueError as error:
        raise UsageError(f"{error} in {text!r}: close it.") from error


def _words(text: str) -> list[str]:
    """Split at blanks outside of quotes and brackets; quotes around a word are removed."""
    return [_unquoted(word) for word in _split(" ".join(text.split("\n")), " ") if word]


def _unquoted(word: str) -> str:
    """Remove quotes, except within braces, where they belong to the options of a pass."""
    brace = next((at for at, _ in depths(word) if word[at] == "{"), len(word))
    return "".join(shlex.split(word[:brace])) + word[brace:]


def _word(value: PassReference | str | int) -> str:
    if not isinstance(value, PassReference):
        return shlex.quote(str(value))
    number = "" if value.number is None else f"#{value.number}"
    return f"{shlex.quote(value.name)}{number}"


def _parts(words: Sequence[str], separator: str) -> Iterator[list[str]]:
    """Yield the words between separators, without empty parts."""
    part: list[str] = []
    for word in [*words, separator]:
        if word != separator:
            part.append(word)
        elif part:
            yield part
            part = []


# --- changes -----------------------------------------------------------------------------


def _change(words: list[str]) -> Change:
    for prefix, kind in _SWITCHES.items():
        if words[0].startswith(prefix):
            return _switch(kind, words[0].removeprefix(prefix), words)
    match words:
        case ["append", pipeline]:
            return AppendedPipeline(pipeline)
        case ["benefit", pattern, number]:
            return ChangedBenefit(_glob(pattern.removeprefix("pattern:")), _benefit(number))
        case _:
            return _pass_change(words)


def _pass_change(words: list[str]) -> Change:
    match words:
        case ["drop", reference]:
            return DroppedPass(_reference(reference))
        case ["replace", reference, "with" | "by", pipeline]:
            return ReplacedPass(_reference(reference), pipeline)
        case ["insert", pipeline, ("before" | "after") as side, reference]:
            return InsertedPipeline(pipeline, side, _reference(reference))
        case ["move", reference, ("before" | "after") as side, other]:
            return MovedPass(_reference(reference), side, _reference(other))
        case ["swap", one, other] | ["swap", one, "with", other]:
            return SwappedPasses(_reference(one), _reference(other))
        case [word] if match := _WITH_OPTIONS.fullmatch(word):
            return ChangedOptions(_reference(match["reference"]), match["options"].strip())
        case _:
            raise _unknown(words)


def _unknown(words: list[str]) -> UsageError:
    text = repr(" ".join(words))
    if words[0].startswith("#"):
        return UsageError(
            f"{text} is not an alternative: to leave out one action, 'goto {words[0]}' and 'skip'."
        )
    forms = [repr(form) for form in FORMS if _verb(form) == _verb(words[0])]
    way = f"write {joined(forms, 'or')}" if forms else _HELP
    return UsageError(f"{text} is not an alternative: {way}.")


def _verb(text: str) -> str:
    """Return the first word, without the name behind a colon."""
    return re.split("[ :]", text, maxsplit=1)[0]


def _switch(kind: Literal["pattern", "fold"], name: str, words: list[str]) -> Switch:
    match words[1:]:
        case ["off"]:
            return Switch(kind, _glob(name))
        case ["off", "in", reference]:
            return Switch(kind, _glob(name), inside=_reference(reference))
        case ["on"] if kind == "pattern":
            return Switch(kind, _glob(name), on=True)
        case ["on", "in", _] if kind == "pattern":
            raise UsageError("A pattern is 'on' in all passes: leave 'in PASS' out.")
        case _:
            raise _unknown(words)


def _reference(text: str) -> PassReference:
    match = _REFERENCE.fullmatch(text.removeprefix(_PASS))
    if match is None or match["number"] == "0":
        raise UsageError(
            f"{text!r} is not a pass: write its argument, or a glob, or with the number of a run "
            "from 1, such as canonicalize#2."
        )
    number = match["number"]
    return PassReference(_glob(match["name"]), None if number is None else int(number))


def _glob(text: str) -> str:
    if not text:
        raise UsageError("The name is missing in an alternative: write it, or a glob.")
    check_glob(text, text, 0)
    return text


def _benefit(text: str) -> int:
    if not text.isdecimal() or int(text) > HIGHEST:
        raise UsageError(f"{text!r} is not a benefit: give an integer from 0 to {HIGHEST:,}.")
    return int(text)


def switches_of(changes: Iterable[Change]) -> list[Switch]:
    """Return the patterns and folds that are switched off."""
    return [one for one in changes if isinstance(one, Switch) and not one.on]
