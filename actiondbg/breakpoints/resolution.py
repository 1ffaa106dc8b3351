"""The meaning of the names in a SPEC, by what is known of the tool and its input.

A bare name means, in this order, a pattern, a pass, an operation, a function, a tag, or a file of
the command line; a bare number a line of the only input.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple, Protocol

import msgspec

from actiondbg.breakpoints.spec import Piece, location_spec, parse_pieces, parse_spec
from actiondbg.breakpoints.suggestions import (
    NamesOfKind,
    last_component,
    similar_file,
    similar_name,
)
from actiondbg.protocol import ActionRef, Term
from actiondbg.protocol.tags import PASS_TAG, PATTERN_TAG
from actiondbg.support.counts import counted
from actiondbg.support.globs import compiled_glob, is_literal

Kind = Literal["pattern", "pass", "op", "func", "tag"]

_ORDER: tuple[Kind, ...] = ("pattern", "pass", "op", "func", "tag")
# The kind of the names that a term has, and how that is said.
_KIND_OF: dict[str, Kind] = {
    **{kind: kind for kind in _ORDER},
    "fold": "op",
    "in": "pass",
}
_NOUNS: dict[str, str] = {
    "pattern": "pattern",
    "pass": "pass",
    "in": "pass",
    "op": "operation",
    "fold": "operation",
    "func": "function",
    "tag": "tag",
}
_PLAIN = re.compile(r"[\w./+-]*[A-Za-z_./][\w./+-]*")  # a path that needs no quotes before a line
_ANONYMOUS = re.compile(r"\(anonymous namespace\)::|\{anonymous\}::")


class Vocabulary(Protocol):
    """The names that are known of a tool and its input."""

    @property
    def is_current(self) -> bool:
        """Whether the tool, or its recording, can be asked now."""
        ...

    @property
    def is_complete(self) -> bool:
        """Whether no further name can turn up."""
        ...

    def get(self, kind: Kind) -> list[str]:
        """Return the known names of a kind."""
        ...

    def may_have(self, kind: Kind, name: str) -> bool:
        """Whether a name may be among those of a kind: faster than a search of all."""
        ...

    def options(self) -> list[str]:
        """Return the words of the command line that may name passes."""
        ...

    def inputs(self) -> list[str]:
        """Return the input files of the command line, as locations name them."""
        ...

    def line_count(self, file: str) -> int | None:
        """Return the number of lines of an input file; None if it is unknown."""
        ...

    def may_locate(self, path: str) -> bool:
        """Whether a location may name a file that is no input."""
        ...


class ActionNames:
    """The names of one action, as a ``Vocabulary``."""

    is_current = True
    is_complete = True

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

    def options(self) -> list[str]:
        return []

    def inputs(self) -> list[str]:
        return []

    def line_count(self, file: str) -> int | None:
        return None

    def may_locate(self, path: str) -> bool:
        return True


class UnresolvedNames:
    """Names of a SPEC that may not be known: only the clause about them needs a long search.

    Args:
        terms: those without a meaning of their own.
    """

    def __init__(self, terms: Sequence[tuple[Piece, Term]], names: Vocabulary) -> None:
        self._terms = terms
        self._names = names

    @cached_property
    def clause(self) -> str | None:
        """What is not known, and names like that; None if all are known at the first use."""
        clauses = (_unknown(piece, term, self._names) for piece, term in self._terms)
        return "; ".join(filter(None, clauses)) or None


class Resolved(NamedTuple):
    """A SPEC whose names are looked up.

    Attributes:
        spec: the SPEC, in which each bare name that is known has its kind.
        unresolved: the other names.
    """

    spec: str
    unresolved: UnresolvedNames


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
    kind = _KIND_OF.get(term.kind)
    if kind is None or is_known(kind, glob, names) or not glob.strip("*"):
        return None
    # The class names of passes are not listed.
    is_class = kind == "pass" and (glob[:1].isupper() or "::" in glob)
    near = None if is_class else _nearest(glob, (kind,), names)
    # The tags are known before the first action, up to a tool's own.
    if near is None and (is_class or not (names.is_current or kind == "tag")):
        return None
    if near is not None:
        near = f"{term.kind}:{near.partition(':')[2]}"
    return _clause(f"no {_NOUNS[term.kind]} {glob!r}", near, names)


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
