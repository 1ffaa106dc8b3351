"""The meaning of the names in a SPEC, by what is known of the tool and its input.

A bare name means, in this order, a pattern, a pass, an operation, a function, a tag, or a file of
the command line; a bare number a line of the only input.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from actiondbg.breakpoints.spec import Piece, location_spec, parse_pieces, parse_spec
from actiondbg.protocol import ActionRef, Term
from actiondbg.support.globs import glob_matches, is_literal

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
_LIKENESS = 0.75  # of a name that is suggested
_SHORT, _LIKENESS_OF_SHORT = 4, 0.6  # a slip in a short name changes much of it
_LIKENESS_OF_PART = 0.8  # of the last component of a name
_LESS_FOR_PART = 0.01  # a whole name comes before a part that is as like
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

    def options(self) -> list[str]:
        """Return the words of the command line that may name passes."""
        ...

    def inputs(self) -> list[str]:
        """Return the input files of the command line, as locations name them."""
        ...


class ActionNames:
    """The names of one action, as a ``Vocabulary``."""

    is_current = True
    is_complete = True

    def __init__(self, action: ActionRef) -> None:
        is_pattern, is_pass = (action.tag == tag for tag in ("apply-pattern", "pass-execution"))
        self._names: dict[Kind, str | None] = {
            "pattern": action.name if is_pattern else None,
            "pass": action.name if is_pass else None,
            "op": action.op,
            "func": action.function,
            "tag": action.tag,
        }

    def get(self, kind: Kind) -> list[str]:
        """Return the name of a kind, if the action has one."""
        name = self._names[kind]
        return [] if name is None else [name]

    def options(self) -> list[str]:
        """Return no words."""
        return []

    def inputs(self) -> list[str]:
        """Return no files."""
        return []


@dataclass(frozen=True)
class Resolved:
    """A SPEC whose names are looked up.

    Attributes:
        spec: the SPEC, in which each bare name that is known has its kind.
        pending: a clause about the names that are not known, and names like them; None if all are.
    """

    spec: str
    pending: str | None = None


def resolve_spec(text: str, names: Vocabulary) -> Resolved:
    """Look up the names of a SPEC.

    Raises:
        UsageError: a syntax error, terms that never match the same action, or a line without a
            file.
    """
    parts: list[str] = []
    unknown: list[str] = []
    end = 0
    for piece, term in parse_pieces(text):
        meaning = _meaning(piece, term, names)
        if meaning is None and (why := _unknown(piece, term, names)):
            unknown.append(why)
        parts += [text[end : piece.offset], piece.raw if meaning is None else meaning]
        end = piece.offset + len(piece.raw)
    spec = "".join([*parts, text[end:]]).strip()
    parse_spec(spec)  # the meanings may contradict each other
    return Resolved(spec, "; ".join(unknown) or None)


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
    for matches in (_is_whole_name, _is_known):
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
    """Return whether a path names a file by its last components."""
    return file == path or file.endswith(f"/{path}")


def _is_whole_name(kind: Kind, glob: str, names: Vocabulary) -> bool:
    """Return whether a glob matches a known name from its beginning to its end."""
    if kind == "pass" and glob in names.options():
        return True
    return _matches_any(glob, names.get(kind))


def _is_known(kind: Kind, glob: str, names: Vocabulary) -> bool:
    """Return whether a glob matches a known name, as the agent matches it; see ``Glob``."""
    if _is_whole_name(kind, glob, names):
        return True
    scoped = [_ANONYMOUS.sub("", name) for name in names.get(kind) if "::" in name]
    return _matches_any(glob, (*scoped, *map(_last_component, scoped)))


def _matches_any(glob: str, names: Collection[str]) -> bool:
    if is_literal(glob):
        return glob in names
    return any(name == glob or glob_matches(glob, name) for name in names)


def _last_component(name: str) -> str:
    """Return the part after the last :: outside of template arguments, as the agent does.

    A function canonicalize keeps its class: many operations have one, and a pass has the name.
    """
    nesting = start = before = 0
    for at, character in enumerate(name):
        nesting += (character == "<") - (character == ">")
        if nesting == 0 and name.startswith("::", at):
            before, start = start, at + 2
    return name[before if name[start:] == "canonicalize" else start :]


# --- names that are not known -----------------------------------------------------------


def _unknown(piece: Piece, term: Term, names: Vocabulary) -> str | None:
    """Return a clause about a name that is not known; None if it is, or may well be."""
    if term.kind == "location":
        return _unknown_file(term.path or "", names)
    glob = term.glob or ""
    if term.kind == "name":
        return _clause(f"nothing named {piece.raw!r}", _nearest(glob, _ORDER, names), names)
    kind = _KIND_OF.get(term.kind)
    if kind is None or _is_known(kind, glob, names) or not glob.strip("*"):
        return None
    # The class names of passes are not listed.
    is_class = kind == "pass" and (glob[:1].isupper() or "::" in glob)
    near = None if is_class else _nearest(glob, (kind,), names)
    if near is None and (is_class or not names.is_current):
        return None
    if near is not None:
        near = f"{term.kind}:{near.partition(':')[2]}"
    return _clause(f"no {_NOUNS[term.kind]} {glob!r}", near, names)


def _unknown_file(path: str, names: Vocabulary) -> str | None:
    inputs = names.inputs()
    if any(_is_in_file(path, file) for file in inputs):
        return None
    # Locations may name any file: only what looks like a slip is reported.
    basenames = {os.path.basename(file): file for file in inputs}
    near = difflib.get_close_matches(os.path.basename(path), basenames, 1, _LIKENESS)
    if not near or near[0] == path:
        return None
    return f"the input is not {path!r}; did you mean {near[0]}?"


def _clause(what: str, near: str | None, names: Vocabulary) -> str:
    where = "in the recording" if names.is_complete else "known yet"
    return f"{what} is {where}" + (f"; did you mean {near}?" if near else "")


def _nearest(glob: str, kinds: Sequence[Kind], names: Vocabulary) -> str | None:
    """Return the known name that is most like a glob, with its kind; None if none is like it."""
    stem = glob.strip("*").lower()
    # It keeps an index of the second text, which is the same for all names.
    matcher = difflib.SequenceMatcher(None, "", stem, autojunk=False)
    best = (_LIKENESS_OF_SHORT if len(stem) <= _SHORT else _LIKENESS), ""
    for kind in kinds:
        for name, spelling, is_part in _candidates(kind, names):
            short = spelling[: len(stem) + 1] if glob.endswith("*") else spelling
            likeness = _likeness(matcher, short, max(best[0], _LIKENESS_OF_PART * is_part))
            likeness -= _LESS_FOR_PART * is_part
            if likeness > best[0]:
                best = likeness, f"{kind}:{name}"
    return best[1] or _beginning(stem, kinds, names)


def _beginning(stem: str, kinds: Sequence[Kind], names: Vocabulary) -> str | None:
    """Return the shortest known name that begins with a text of some length."""
    if len(stem) < _SHORT:
        return None
    found = [
        (len(name), f"{kind}:{name}")
        for kind in kinds
        for name, spelling, _ in _candidates(kind, names)
        if spelling.startswith(stem)
    ]
    return min(found, default=(0, None))[1]


def _candidates(kind: Kind, names: Vocabulary) -> Iterator[tuple[str, str, bool]]:
    """Yield names, what a user may write for them, and whether that is a part of it."""
    for name in (*names.get(kind), *(names.options() if kind == "pass" else ())):
        yield name, name.lower(), False
        last = _last_component(name) if "::" in name else name.rpartition(".")[2]
        if last != name:
            yield name, last.lower(), True


def _likeness(matcher: difflib.SequenceMatcher[str], other: str, least: float) -> float:
    """Return how alike two texts are, from 0 to 1; 0 if it is at most ``least``."""
    matcher.set_seq1(other)
    if matcher.real_quick_ratio() <= least or matcher.quick_ratio() <= least:
        return 0.0
    return matcher.ratio()
