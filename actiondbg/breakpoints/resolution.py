"""The meaning of the names in a SPEC, by what is known of the tool and its input.

A bare name means, in this order, a pattern, a pass, an operation, a function, a tag, or a file of
the command line; a bare number a line of the only input. For a name that is not known, the known
name that is most like it is suggested.
"""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple, Protocol

import msgspec

from actiondbg.breakpoints.spec import Piece, location_spec, parse_pieces, parse_spec
from actiondbg.breakpoints.spec_kinds import KINDS, Kind
from actiondbg.protocol import ActionRef, Term
from actiondbg.protocol.tags import PASS_TAG, PATTERN_TAG
from actiondbg.support.counts import counted
from actiondbg.support.globs import compiled_glob, is_literal

_LIKENESS = 0.75  # of a name that is suggested
_SHORT, _LIKENESS_OF_SHORT = 4, 0.6  # a slip in a short name changes much of it
_LIKENESS_OF_PART = 0.8  # of the last component of a name
_LESS_FOR_PART = 0.01  # a whole name comes before a part that is as like
_SEPARATORS = re.compile(r"::|[<>]")


class NamesOfKind(NamedTuple):
    """The known names of one kind."""

    kind: str
    names: Sequence[str]


def similar_file(name: str, files: Sequence[str]) -> str | None:
    """Return the file name that is most like another; None if none is like it."""
    near = difflib.get_close_matches(name, files, 1, _LIKENESS)
    return near[0] if near else None


def similar_name(glob: str, known: Sequence[NamesOfKind]) -> str | None:
    """Return the known name that is most like a glob, with its kind; None if none is like it."""
    stem = glob.strip("*").lower()
    end = len(stem) + 1 if glob.endswith("*") else None
    likeness = _Likeness(stem)
    best = (_LIKENESS_OF_SHORT if len(stem) <= _SHORT else _LIKENESS), ""
    for kind, names in known:
        spellings = _spellings(tuple(names))
        for spelling, name in likeness.possible(spellings.whole, end, best[0]):
            if (found := likeness.of(spelling, best[0])) > best[0]:
                best = found, f"{kind}:{name}"
        for spelling, name in likeness.possible(spellings.parts, end, best[0]):
            found = likeness.of(spelling, max(best[0], _LIKENESS_OF_PART)) - _LESS_FOR_PART
            if found > best[0]:
                best = found, f"{kind}:{name}"
    return best[1] or _beginning(stem, known)


def last_component(name: str) -> str:
    """Return the part after the last :: outside of template arguments, as the agent does.

    A function canonicalize keeps its class: many operations have one, and a pass has the name.
    """
    nesting = start = before = 0
    for found in _SEPARATORS.finditer(name):
        if found[0] != "::":
            nesting += 1 if found[0] == "<" else -1
        elif nesting == 0:
            before, start = start, found.end()
    return name[before if name[start:] == "canonicalize" else start :]


def _beginning(stem: str, known: Sequence[NamesOfKind]) -> str | None:
    """Return the shortest known name that begins with a text of some length."""
    if len(stem) < _SHORT:
        return None
    found = [
        (len(name), f"{kind}:{name}")
        for kind, names in known
        for spellings in [_spellings(tuple(names))]
        if f"\n{stem}" in spellings.lines
        for spelling, name in (*spellings.whole, *spellings.parts)
        if spelling.startswith(stem)
    ]
    return min(found, default=(0, None))[1]


class _Spellings(NamedTuple):
    """What a user may write for names, in lower case, each with its name."""

    whole: Sequence[tuple[str, str]]  # the names themselves
    parts: Sequence[tuple[str, str]]  # their last components
    lines: str  # all of these in one text, each after a newline


# Of all names of a kind: each name that is not known is compared with the same ones.
@lru_cache(maxsize=16)
def _spellings(names: tuple[str, ...]) -> _Spellings:
    whole = [(name.lower(), name) for name in names]
    lasts = (last_component(name) if "::" in name else name.rpartition(".")[2] for name in names)
    parts = [(last.lower(), name) for name, last in zip(names, lasts, strict=True) if last != name]
    return _Spellings(whole, parts, "".join(f"\n{spelling}" for spelling, _ in (*whole, *parts)))


class _Likeness:
    """How alike a text and others are, from 0 to 1."""

    def __init__(self, text: str) -> None:
        # It keeps an index of the second text, which is the same for all others.
        self._matcher = difflib.SequenceMatcher(None, "", text, autojunk=False)
        self._size = len(text)
        self._counts = Counter(text)
        self._letters = set(text)

    def possible(
        self, spellings: Sequence[tuple[str, str]], end: int | None, least: float
    ) -> Iterable[tuple[str, str]]:
        """Return the spellings, up to ``end``, whose size allows a likeness over ``least``.

        Each comes with its first name: many names begin alike.
        """
        shortest, longest = self._size * least / (2 - least), self._size * (2 - least) / least
        found: dict[str, str] = {}
        for spelling, name in spellings:
            beginning = spelling[:end]
            if shortest < len(beginning) < longest:
                found.setdefault(beginning, name)
        return found.items()

    def of(self, other: str, least: float) -> float:
        """Return how alike the texts are; 0 if that is at most ``least`` by a quick bound."""
        missing = self._letters.difference(other)
        shared = self._size - sum([self._counts[letter] for letter in missing])
        if 2 * shared <= least * (self._size + len(other)):
            return 0.0
        self._matcher.set_seq1(other)
        return self._matcher.ratio() if self._matcher.quick_ratio() > least else 0.0


_ORDER: tuple[Kind, ...] = ("pattern", "pass", "op", "func", "tag")
_PLAIN = re.compile(r"[\w./+-]*[A-Za-z_./][\w./+-]*")  # a path that needs no quotes before a line
_ANONYMOUS = re.compile(r"\(anonymous namespace\)::|\{anonymous\}::")


class Vocabulary(Protocol):
    """The names that are known of a tool and its input."""

    @property
    def is_current(self) -> bool:
        """Whether the tool, or its recording, can be asked now."""
        return True

    @property
    def is_complete(self) -> bool:
        """Whether no further name can turn up."""
        return True

    def get(self, kind: Kind) -> list[str]:
        """Return the known names of a kind."""
        ...

    def may_have(self, kind: Kind, name: str) -> bool:
        """Whether a name may be among those of a kind: faster than a search of all."""
        return True

    def options(self) -> list[str]:
        """Return the words of the command line that may name passes."""
        return []

    def inputs(self) -> list[str]:
        """Return the input files of the command line, as locations name them."""
        return []

    def line_count(self, file: str) -> int | None:
        """Return the number of lines of an input file; None if it is unknown."""
        return None

    def may_locate(self, path: str) -> bool:
        """Whether a location may name a file that is no input."""
        return True


class ActionNames(Vocabulary):
    """The names of one action."""

    def __init__(self, action: ActionRef) -> None:
        is_pattern, is_pass = (action.tag == tag for tag in (PATTERN_TAG, PASS_TAG))
        self._names: dict[Kind, str | None] = {
            "pattern": action.name if is_pattern else None,
            "pass": action.name if is_pass else None,
            "op": action.op,
            "func": action.function,
            "tag": action.tag,
        }

    def get(self, kind: Kind) -> list[str]:
        name = self._names[kind]
        return [] if name is None else [name]

    def may_have(self, kind: Kind, name: str) -> bool:
        return self._names[kind] is not None


class UnresolvedNames:
    """Names of a SPEC that may not be known: only the clause about them needs a long search."""

    def __init__(self, terms: Sequence[tuple[Piece, Term]], names: Vocabulary) -> None:
        self._terms = terms
        self._names = names

    @cached_property
    def clause(self) -> str | None:
        """What is not known, and names like that; None if all are known at the first use."""
        clauses = (_unknown(piece, term, self._names) for piece, term in self._terms)
        return "; ".join(filter(None, clauses)) or None


class Resolved(NamedTuple):
    """A SPEC whose names are looked up."""

    spec: str  # the SPEC, in which each bare name that is known has its kind
    unresolved: UnresolvedNames  # the other names


def resolve_spec(text: str, names: Vocabulary) -> Resolved:
    """Look up the names of a SPEC.

    Raises:
        UsageError: a syntax error, terms that never match the same action, or a line without a
            file.
    """
    parts: list[str] = []
    unresolved: list[tuple[Piece, Term]] = []
    end = 0
    for piece, term in parse_pieces(text):
        meaning = _meaning(piece, term, names)
        if meaning is None:
            unresolved.append((piece, term))
        elif term.path == "":  # the only input may have fewer lines
            unresolved.append((piece, msgspec.structs.replace(term, path=names.inputs()[0])))
        parts += [text[end : piece.offset], piece.raw if meaning is None else meaning]
        end = piece.offset + len(piece.raw)
    spec = "".join([*parts, text[end:]]).strip()
    parse_spec(spec)  # the meanings may contradict each other
    return Resolved(spec, UnresolvedNames(unresolved, names))


# --- names ------------------------------------------------------------------------------


def _meaning(piece: Piece, term: Term, names: Vocabulary) -> str | None:
    """Return a bare name with its kind, or a bare line with its file; None for anything else."""
    if term.path == "":
        return _line(piece, names)
    if term.kind != "name":
        return None
    glob = term.glob or ""
    if not glob.strip("*"):
        return f"tag:{glob}"
    # A whole name first: a pass is not hidden by a function pattern ns::Op::canonicalize.
    for matches in (_is_whole_name, _is_part):
        for kind in _ORDER:
            if matches(kind, glob, names):
                return f"{kind}:{piece.raw}"
    if any(_is_in_file(glob, path) for path in names.inputs()):
        return f"file:{piece.raw}"
    return None


def _line(piece: Piece, names: Vocabulary) -> str:
    """Return a line of the only input with its file."""
    files = names.inputs()
    if len(files) == 1:
        return (
            f"{files[0]}:{piece.raw}"
            if _PLAIN.fullmatch(files[0])
            else (f"{location_spec(files[0])}:{piece.raw}")
        )
    why = f"there are {len(files)}: {', '.join(files)}" if files else "none is known"
    raise piece.error(
        f"{piece.raw!r} is a line of the only input file, but {why}. Write FILE:{piece.raw}."
    )


def _is_in_file(path: str, file: str) -> bool:
    return file == path or file.endswith(f"/{path}")


def _is_whole_name(kind: Kind, glob: str, names: Vocabulary) -> bool:
    """Return whether a glob matches a known name from its beginning to its end."""
    if kind == "pass" and glob in names.options():
        return True
    if is_literal(glob) and not names.may_have(kind, glob):
        return False
    return _matches_any(glob, names.get(kind))


def is_known(kind: Kind, glob: str, names: Vocabulary) -> bool:
    """Return whether a glob matches a known name, as the agent matches it; see ``Glob``."""
    return _is_whole_name(kind, glob, names) or _is_part(kind, glob, names)


def _is_part(kind: Kind, glob: str, names: Vocabulary) -> bool:
    """Return whether a glob matches the short form of a known C++ name."""
    if kind not in ("pattern", "pass"):
        return False
    return _matches_any(glob, [part for name in names.get(kind) for part in _parts(name)])


# Of many names: each is looked up for every name of a SPEC.
@lru_cache(maxsize=1 << 14)
def _parts(name: str) -> tuple[str, ...]:
    """Return the short forms of a C++ name: without anonymous namespaces, and the last part."""
    if "::" not in name:
        return ()
    plain = _ANONYMOUS.sub("", name)
    return plain, last_component(plain)


def _matches_any(glob: str, names: Collection[str]) -> bool:
    if is_literal(glob):
        return glob in names
    return glob in names or any(map(compiled_glob(glob).fullmatch, names))


def misspelt(kind: Kind, glob: str, names: Vocabulary) -> str | None:
    """Return the known name that is meant by one that is not known; None if there is none."""
    if is_known(kind, glob, names):
        return None
    near = _nearest(glob, (kind,), names)
    return near.partition(":")[2] if near else None


# --- names that are not known -----------------------------------------------------------


def _unknown(piece: Piece, term: Term, names: Vocabulary) -> str | None:
    """Return a clause about a name that is not known; None if it is, or may well be."""
    if term.kind == "location":
        return _unknown_place(term.path or "", term.line, names)
    glob = term.glob or ""
    if term.kind == "name":
        return _clause(f"nothing named {piece.raw!r}", _nearest(glob, _ORDER, names), names)
    traits = None if term.kind == "ordinal" else KINDS[term.kind]
    kind = None if traits is None else traits.names
    if traits is None or kind is None or is_known(kind, glob, names) or not glob.strip("*"):
        return None
    # The class names of passes are not listed.
    is_class = kind == "pass" and (glob[:1].isupper() or "::" in glob)
    near = None if is_class else _nearest(glob, (kind,), names)
    # The tags are known before the first action, up to a tool's own.
    if near is None and (is_class or not (names.is_current or kind == "tag")):
        return None
    if near is not None:
        near = f"{term.kind}:{near.partition(':')[2]}"
    return _clause(f"no {traits.noun} {glob!r}", near, names)


def _unknown_place(path: str, line: int | None, names: Vocabulary) -> str | None:
    if any("\ud800" <= character <= "\udfff" for character in path):
        return "its name is not UTF-8, so that no location is found in it: rename the file"
    inputs = names.inputs()
    named = [file for file in inputs if _is_in_file(path, file)]
    if named:
        count = names.line_count(named[0])
        if line is None or count is None or line <= count:
            return None
        return f"{named[0]} has {counted(count, 'line')}"
    basenames = {os.path.basename(file): file for file in inputs}
    near = similar_file(os.path.basename(path), list(basenames))
    if near is not None and near != path:
        return f"the input is not {path!r}; did you mean {near}?"
    return f"no file {path!r} is known" if inputs and not names.may_locate(path) else None


def _clause(what: str, near: str | None, names: Vocabulary) -> str:
    where = "in the recording" if names.is_complete else "known yet"
    return f"{what} is {where}" + (f"; did you mean {near}?" if near else "")


def _nearest(glob: str, kinds: Sequence[Kind], names: Vocabulary) -> str | None:
    """Return the known name that is most like a glob, with its kind; None if none is like it."""
    known: list[NamesOfKind] = []
    for kind in kinds:
        known.append(NamesOfKind(kind, names.get(kind)))
        if kind == "pass":
            known.append(NamesOfKind(kind, names.options()))
    return similar_name(glob, known)
