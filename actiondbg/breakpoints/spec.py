"""SPEC: the actions at which a breakpoint stops.

``tag:T``, ``pattern:GLOB``, ``pass:GLOB``, ``fold:OPGLOB``, ``op:GLOB``, ``func:GLOB``,
``context:GLOB`` (such as c1), ``mlir:GLOB`` (the file of the MLIR, such as libtriton.so),
``loc:GLOB`` (a name inside the location), ``in:PASS`` (inside a pass) or ``in:PASS#2`` (inside its
second run), ``FILE:LINE[:COL]``, ``FILE:LINE-LINE``, ``file:FILE[:LINE...]`` (the whole file, or a
file whose name resembles another term), ``FILE.mlir`` and ``FILE.py`` (the whole file), ``#17``
(ordinal), ``@f`` and ``kernel:f`` (function), or a bare name; several joined with ``and``. Double
quotes protect a word ``and``, a word ``if`` and colons. In the name of a function, ``\\22`` is a
quote: bytes are written as MLIR prints them.

What a bare name or number means is looked up in resolution.py. A bare name that has not been looked
up selects all actions to which it fits.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from actiondbg.breakpoints.spec_kinds import KINDS, PREFIXES
from actiondbg.errors import UsageError
from actiondbg.protocol import ActionRef, SpecKind, Term
from actiondbg.protocol.tags import FOLD_TAG, PATTERN_TAG
from actiondbg.support.globs import check_glob, escape_glob, glob_matches, is_literal

_PREFIXES = (*PREFIXES, "file")
_WORD = re.compile(r"""(?:"[^"]*"|(?<![^\s:])'[^']*'|[^\s"])+""")
# A single word before a single colon: mlir::X is a name.
_PREFIX = re.compile(r"([A-Za-z_][\w-]*):(?!:)")
_NUMBERS = r"(?P<line>[0-9]+)(?:-(?P<last>[0-9]+)|:(?P<column>[0-9]+))?"
_LOCATION = re.compile(rf'(?P<path>"[^"]+"|.*?[^:]):{_NUMBERS}')
_NEGATIVE_LINE = re.compile(r".+:(?P<line>-[0-9]+)")
_BARE_LINE = re.compile(rf"(?P<path>){_NUMBERS}")
# The number of a run, after the name of a pass.
_RUN = re.compile(r"(?P<name>.*)#(?P<run>[^\s\"#]*)")
_SOURCE_FILE = re.compile(r"[^*?]+\.(?:mlir(?:bc)?|py)")
# Bytes in the name of a function, as MLIR prints them.
_ESCAPED = re.compile(r"(?:\\[0-9A-F]{2})+")
# A single colon in a bare name, not part of ::, is an invalid location.
_LONE_COLON = re.compile(r"(?<!:):(?!:)")


# By the kind of a term: the tag that its actions have.
_TAGS: dict[str, str | None] = {kind: traits.tag for kind, traits in KINDS.items()}
# The properties of which an action has one only, if they are not globs.
_SINGLE = {
    **{kind: traits.noun for kind, traits in KINDS.items() if traits.is_single},
    "ordinal": "ordinal",
}
# Dialects without an operation that a pass can run on: none is isolated from above.
_LEAF = re.compile(
    r"(affine|amdgpu|arith|arm_neon|arm_sme|arm_sve|bufferization|cf|complex|index|linalg|math"
    r"|memref|nvgpu|quant|scf|sparse_tensor|tensor|tosa|ub|vector|x86vector|xegpu)\..*"
)


@dataclass(frozen=True)
class Piece:
    """A term in the user's text: ``raw`` begins at ``offset`` in ``text``."""

    raw: str
    text: str
    offset: int

    @property
    def plain(self) -> str:
        return self.raw.replace('"', "")

    def after(self, length: int) -> Piece:
        return Piece(self.raw[length:], self.text, self.offset + length)

    def error(self, message: str, at: int = 0) -> UsageError:
        return UsageError(message, self.text, self.offset + at)


def parse_spec(text: str) -> list[Term]:
    """Parse a SPEC into its terms, all of which must match.

    Raises:
        UsageError: a syntax error, or terms that never match the same action; with the position.
    """
    terms: list[Term] = []
    for piece, term in parse_pieces(text):
        if term.path == "":
            raise piece.error(
                f"{piece.raw!r} is a line of an unknown file: write FILE:{piece.raw}."
            )
        for other in terms:
            if reason := _contradiction(other, term):
                raise piece.error(reason)
        terms.append(term)
    return terms


def parse_pieces(text: str) -> list[tuple[Piece, Term]]:
    """Parse each term of a SPEC by itself, with its place in the text.

    The path of a line without a file is empty.

    Raises:
        UsageError: a syntax error, with its position.
    """
    return [(piece, _parse_term(piece)) for piece in _split_terms(text)]


def split_spec_and_condition(text: str) -> tuple[str, str | None]:
    """Split ``SPEC [if EXPR]`` at its first word ``if``; neither part is parsed yet.

    Raises:
        UsageError: a quote is not closed, or nothing follows ``if``.
    """
    for word in _words(text):
        if word[0] != "if":
            continue
        condition = text[word.end() :].strip()
        if not condition:
            raise no_condition(text, word.start())
        return text[: word.start()].strip(), condition
    return text.strip(), None


def no_condition(text: str, offset: int) -> UsageError:
    """Return the error of a text in which nothing follows the word ``if``, at an offset."""
    return UsageError("A condition must follow the word if, such as depth > 1.", text, offset)


def location_spec(path: str, line: int | None = None, column: int | None = None) -> str:
    """Return the SPEC of a file location; the path may have any characters."""
    numbers = "".join(f":{number}" for number in (line, column) if number is not None)
    return f'file:"{path}"{numbers}'


def _words(text: str) -> Iterator[re.Match[str]]:
    at = 0
    while at < len(text):
        word = _WORD.match(text, at)
        if word:
            yield word
            at = word.end()
        elif text[at] == '"':
            raise UsageError("The quote is not closed: write another at the end.", text, at)
        else:
            at += 1


def _split_terms(text: str) -> Iterator[Piece]:
    start: int | None = None
    end = 0
    joined_at: int | None = None
    for word in _words(text):
        if word[0] in ("or", "not", "&&", "||"):
            raise UsageError(
                f"Terms are joined with and only, not with {word[0]!r}: use a condition after if, "
                "or a second breakpoint.",
                text,
                word.start(),
            )
        if word[0] != "and":
            start = word.start() if start is None else start
            end = word.end()
            continue
        if start is None:
            raise UsageError("A term must precede the word and.", text, word.start())
        yield Piece(text[start:end], text, start)
        start, joined_at = None, word.start()
    if start is not None:
        yield Piece(text[start:end], text, start)
    elif joined_at is not None:
        raise UsageError("A term must follow the word and.", text, joined_at)
    else:
        raise UsageError(
            "The SPEC is empty: name a pattern, pass or tag, or give FILE:LINE or #ORDINAL.", text
        )


def _parse_term(piece: Piece) -> Term:
    if piece.raw.startswith("#"):
        return _parse_ordinal(piece)
    if piece.raw.startswith("@"):
        return _parse_function(piece)
    if line := _BARE_LINE.fullmatch(piece.raw):
        return _location_term(piece, line)
    prefix = _PREFIX.match(piece.raw)
    if prefix and prefix[1] in _PREFIXES:
        value = piece.after(prefix.end())
        kind = PREFIXES.get(prefix[1])
        if kind is None:
            return _file_term(value)
        return _in_term(value) if kind == "in" else _glob_term(kind, value)
    location = _LOCATION.fullmatch(piece.raw)
    if location:
        return _location_term(piece, location)
    if prefix:
        raise _unknown_prefix(piece, prefix[1])
    colon = None if '"' in piece.raw else _LONE_COLON.search(piece.raw)
    if colon:
        raise piece.error(
            f"The location in {piece.raw[: colon.start()]!r} has no valid line: write FILE:LINE, "
            "FILE:LINE:COL or FILE:LINE-LINE.",
            colon.end(),
        )
    if _SOURCE_FILE.fullmatch(piece.plain):
        return Term(kind="location", path=piece.plain)
    return _glob_term("name", piece)


def _parse_function(piece: Piece) -> Term:
    if piece.raw[1:].isdecimal():
        raise piece.error(
            f"{piece.raw!r} is the id of an operation: use 'watch {piece.raw}', or "
            f"func:{piece.raw[1:]} for a function of that name."
        )
    return _glob_term("func", piece.after(1))


def _parse_ordinal(piece: Piece) -> Term:
    digits = piece.raw[1:]
    if not re.fullmatch("[0-9]{1,18}", digits) or int(digits) == 0:
        raise piece.error(
            f"{piece.raw!r} is not an ordinal: actions are numbered from 1, such as #17.", 1
        )
    return Term(kind="ordinal", ordinal=int(digits))


def _in_term(value: Piece) -> Term:
    run = _RUN.fullmatch(value.raw)
    if run is None:
        return _glob_term("in", value)
    digits = run["run"]
    if not re.fullmatch("[0-9]{1,18}", digits) or int(digits) == 0:
        raise value.error(
            f"'#{digits}' is not the number of a run: the runs of a pass are numbered from 1, "
            "such as in:canonicalize#2.",
            run.start("run"),
        )
    term = _glob_term("in", Piece(run["name"], value.text, value.offset))
    term.nth = int(digits)
    return term


def _glob_term(kind: Literal[SpecKind, "name"], value: Piece) -> Term:
    glob = value.plain
    if not glob:
        raise value.error(f"Nothing follows {kind}: give a name, or * for any.")
    if kind == "func":
        glob = _ESCAPED.sub(_character, glob)
    check_glob(glob, value.text, value.offset + value.raw.startswith('"'))
    return Term(kind=kind, glob=glob)


def _character(escaped: re.Match[str]) -> str:
    """Return a glob for characters that MLIR escapes in the name of a function."""
    name = bytes.fromhex(escaped[0].replace("\\", ""))
    return escape_glob(name.decode(errors="surrogateescape"))


def _location_term(piece: Piece, match: re.Match[str]) -> Term:
    def number(name: str) -> int | None:
        digits = match[name]
        if digits is None:
            return None
        if len(digits) > 9 or int(digits) == 0:
            raise piece.error(
                f"{digits} is not a {'column' if name == 'column' else 'line'}: they are "
                "numbered from 1.",
                match.start(name),
            )
        return int(digits)

    line, last = number("line"), number("last")
    if line is not None and last is not None and last < line:
        raise piece.error(
            f"The lines {line}-{last} are reversed: write {last}-{line}.", match.start("line")
        )
    path = match["path"].replace('"', "")
    return Term(kind="location", path=path, line=line, last_line=last, column=number("column"))


def _file_term(value: Piece) -> Term:
    location = _LOCATION.fullmatch(value.raw)
    if location:
        return _location_term(value, location)
    if negative := _NEGATIVE_LINE.fullmatch(value.raw):
        raise value.error(
            f"{negative['line']} is not a line: they are numbered from 1.", negative.start("line")
        )
    if not value.plain:
        raise value.error("Nothing follows file: give the name of a file.")
    return Term(kind="location", path=value.plain)


# --- terms that exclude each other ------------------------------------------------------


def _contradiction(one: Term, other: Term) -> str | None:
    """Return why no action matches two terms; None if some action may."""
    kinds = {one.kind: one, other.kind: other}
    around = kinds.get("pass")
    if around is not None and len(kinds) == 2:
        inside = other if around is one else one
        if _excludes_pass(inside):
            return (
                f"No action matches both {_written(inside)} and {_written(around)}, which is the "
                f"pass itself: for what runs inside the pass, write in:{around.glob}."
            )
    if _tag_excludes(one, other) or _tag_excludes(other, one):
        return (
            f"No action matches both {_written(one)} and {_written(other)}: an action has one tag. "
            "Leave one out, or set two breakpoints."
        )
    what = _SINGLE.get(one.kind)
    if what is None or _SINGLE.get(other.kind) != what:
        return None
    values = [_single_value(term) for term in (one, other)]
    if None in values or values[0] == values[1]:
        return None
    return (
        f"No action matches both {_written(one)} and {_written(other)}: an action has one {what}. "
        "Leave one out, or set two breakpoints."
    )


def _excludes_pass(term: Term) -> bool:
    """Return whether a term never matches the execution of a pass."""
    if term.kind == "op":
        return _LEAF.fullmatch(term.glob or "") is not None
    return _tag_excludes(term, Term(kind="pass", glob="*"))


def _tag_excludes(one: Term, other: Term) -> bool:
    """Return whether the tags of the actions of one term are not those of another."""
    tag = _TAGS.get(other.kind)
    if tag is None:
        return False
    if one.kind == "tag":
        return one.glob != tag and not glob_matches(one.glob or "", tag)
    return (_TAGS.get(one.kind) or tag) != tag


def _single_value(term: Term) -> int | str | None:
    """Return the only value that a term accepts; None if there are more."""
    if term.glob is None:
        return term.ordinal
    return term.glob if is_literal(term.glob) else None


def _written(term: Term) -> str:
    return f"#{term.ordinal}" if term.kind == "ordinal" else f"{term.kind}:{term.glob}"


def _unknown_prefix(piece: Piece, prefix: str) -> UsageError:
    close = difflib.get_close_matches(prefix, _PREFIXES, 1)
    remedy = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(_PREFIXES)}."
    return piece.error(f"There is no kind of term {prefix!r}: {remedy}")


# The kind of the term that names an attempt, by the tag of the attempt.
ATTEMPT_KINDS = {PATTERN_TAG: "pattern", FOLD_TAG: "fold"}


def attempted_spec(action: ActionRef | None) -> str:
    """Return the SPEC of the attempts of an action's pattern, or of the folds of its operation.

    For any other action, and for None, it is the SPEC of all attempts of patterns.
    """
    kind = None if action is None else ATTEMPT_KINDS.get(action.tag)
    if action is None or kind is None or not action.name:
        return "tag:apply-pattern"
    return f'{kind}:"{escape_glob(action.name)}"'


def attempt_terms(name: str, location: str | None) -> list[Term]:
    """Return the terms of the attempts of a pattern, at a location such as "in.mlir:3" or at any.

    Raises:
        UsageError: the name is empty or not a glob, or the location is not FILE:LINE.
    """
    if not name:
        raise UsageError("The name of the pattern is empty: give a name, or a glob such as Fold*.")
    check_glob(name, name, 0)
    terms = [Term(kind="pattern", glob=name)]
    if location is None:
        return terms
    places = parse_spec(location)
    if any(term.kind != "location" for term in places):
        raise UsageError(f"{location!r} is not a location: write FILE:LINE or FILE:LINE:COL.")
    return terms + places
