"""Where patterns are defined: a scan of C++ and TableGen sources for their names.

It knows braces, namespaces and the heads of classes and functions, and no more of C++. What it
cannot decide has no place: a wrong one would mislead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from actiondbg.errors import UsageError
from actiondbg.suite.coverage import Coverage

_SUFFIXES = (".cpp", ".cc", ".cxx", ".h", ".hpp", ".inc", ".td")
_ANONYMOUS = "{}"  # the component of a name for an anonymous namespace
_BODY = "()"  # that for a function, and of any braces in one
_SPACE = r"(?:\s|//[^\n]*\n)*"
# A struct or class with its body or bases, not a declaration of it.
_CLASS = (
    r"\b(?:struct|class)\s+(?:(?:alignas|[A-Z_]+)\s*\([^()]*\)\s*|[A-Z]+_[A-Z_]+\s+)?"
    r"(?P<class>(?:\w+::)*\w+)\s*(?P<arguments><[^;{}()]*>)?\s*(?:final\b)?"
    rf"{_SPACE}(?=:(?!:)|\{{)"
)
_FUNCTION = r"\bLogicalResult\s+(?P<function>(?:\w+::)*\w+)\s*\("
_CANDIDATES = re.compile(f"{_CLASS}|{_FUNCTION}")
_TOKENS = re.compile(
    r"//[^\n]*|/\*.*?\*/|R\"(?P<raw>\w*)\(.*?\)(?P=raw)\"|\"(?:\\.|[^\"\\\n])*\""
    r"|'(?:\\.|[^'\\\n])'|\busing\s+namespace\s+(?P<using>[\w:]+)"
    r"|\bnamespace\s+(?P<namespace>[\w:]*)\s*(?:\[\[.*?\]\]\s*)?\{|(?P<brace>[{}])|"
    rf"{_CLASS}|{_FUNCTION}",
    re.DOTALL,
)
_RULE = re.compile(rf"^[ \t]*def\s+(?P<class>\w+){_SPACE}:{_SPACE}\w*Pat\w*", re.MULTILINE)
# The names that TableGen gives to patterns without one, in each file anew.
_NUMBERED = re.compile(r"GeneratedConvert\d+")


class DefinitionPlace(NamedTuple):
    """The place of a definition."""

    file: str  # its path, which begins with the name of the folder that was given
    line: int  # of the name, from 1


@dataclass(frozen=True)
class _Name:
    """A name in C++."""

    scope: tuple[str, ...]  # the namespaces, classes and functions around it
    leaf: str  # the last component
    arguments: str = ""  # those of its template, without scopes and blanks; empty without any


@dataclass(frozen=True)
class _Definition:
    """A definition of a class or function."""

    name: _Name  # as it is written, with what is around it
    place: DefinitionPlace
    scopes: frozenset[tuple[str, ...]]  # the namespaces that the file uses
    is_included: bool  # whether what is around it in C++ is unknown
    is_partial: bool  # whether it is a partial specialization of a template

    def defines(self, name: _Name) -> bool:
        """Whether it has this name, arguments of templates aside."""
        scope, wanted = self.name.scope, name.scope
        if _BODY in wanted:  # local to a function: what is around that is not compared
            scope, wanted = _local(scope), _local(wanted)
        if self.is_included:
            return not scope or wanted[-len(scope) :] == scope
        return wanted == scope or any((*each, *scope) == wanted for each in self.scopes)


def locate_patterns(found: Coverage, folders: Sequence[Path]) -> None:
    """Note in the patterns of a coverage the file and line of the only definition of their names.

    Raises:
        UsageError: one of the folders is no folder.
    """
    patterns = found.of("pattern")
    places = find_patterns({each.full_name for each in patterns}, folders)
    for each in patterns:
        if (place := places.get(each.full_name)) is not None:
            each.file, each.line = place


def find_patterns(names: Iterable[str], folders: Sequence[Path]) -> dict[str, DefinitionPlace]:
    """Return where patterns are defined, by full names; those without exactly one are left out."""
    wanted = {each: name for each in names if (name := _parsed(each)) is not None}
    leaves = {name.leaf for name in wanted.values()}
    definitions: dict[str, list[_Definition]] = {}
    for file, shown in _files(folders):
        for each in _definitions(file, shown, leaves):
            definitions.setdefault(each.name.leaf, []).append(each)
    places: dict[str, DefinitionPlace] = {}
    for text, name in wanted.items():
        fitting = [each for each in definitions.get(name.leaf, ()) if each.defines(name)]
        if (one := _chosen(fitting, name)) is not None:
            places[text] = one.place
    return places


def _chosen(fitting: Sequence[_Definition], name: _Name) -> _Definition | None:
    """Return the only definition of a name, that of its specialization first; None if unclear."""
    general = [each for each in fitting if not each.name.arguments]
    special = [each for each in fitting if each.name.arguments]
    exact = [each for each in special if each.name.arguments == name.arguments]
    if exact or any(each.is_partial for each in special):
        return exact[0] if len(exact) == 1 else None
    return general[0] if len(general) == 1 else None


def _files(folders: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Yield the sources in folders, each once, with the paths to show."""
    seen: set[str] = set()
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"{str(folder)!r} is no folder of sources: name one that exists.")
        root = folder.resolve().name
        for at, inner, names in os.walk(folder):
            inner.sort()
            for name in sorted(names):
                path = os.path.join(at, name)
                real = os.path.realpath(path)
                if name.endswith(_SUFFIXES) and real not in seen:
                    seen.add(real)
                    yield Path(path), os.path.join(root, os.path.relpath(path, folder))


# --- names ------------------------------------------------------------------------


def _parsed(text: str) -> _Name | None:
    """Read the full name of a pattern; None for one that no source has."""
    text = re.sub(r"\{anonymous\}|\(anonymous namespace\)|`anonymous namespace'", _ANONYMOUS, text)
    pieces = [""]
    arguments = ""
    depth = parens = 0
    for each in re.findall(r"::|[^:]|:", text):
        depth += each == "<"
        parens += each == "("
        if depth:
            arguments += each
        elif not parens and each == "::":
            pieces.append("")
            arguments = ""
        elif not parens:
            pieces[-1] += each
        elif parens == 1 and each == "(":
            pieces[-1] = _BODY
        depth -= each == ">"
        parens -= each == ")"
    *scope, leaf = pieces
    if not re.fullmatch(r"[A-Za-z_]\w*", leaf) or _NUMBERED.fullmatch(leaf):
        return None
    return _Name(tuple(scope), leaf, _bare(arguments))


def _bare(arguments: str) -> str:
    """Return arguments of a template without scopes and blanks."""
    return re.sub(r"(?:\w+|\{\}|<unnamed>)::|\s", "", arguments)


def _local(scope: tuple[str, ...]) -> tuple[str, ...]:
    """Return what is inside of the last function around a name, with its mark."""
    if _BODY not in scope:
        return scope
    return scope[len(scope) - 1 - scope[::-1].index(_BODY) :]


# --- sources ----------------------------------------------------------------------


def _definitions(file: Path, shown: str, leaves: set[str]) -> Iterator[_Definition]:
    """Yield the definitions of names in a file."""
    try:
        text = file.read_text(errors="replace")
    except OSError:
        return
    if file.suffix == ".td":
        for match in _RULE.finditer(text):
            if match["class"] in leaves:
                place = _place(shown, text, match.start("class"))
                yield _Definition(_Name((), match["class"]), place, frozenset(), True, False)
        return
    if any(_leaf(match) in leaves for match in _CANDIDATES.finditer(text)):
        yield from _scanned(shown, text, leaves)


def _leaf(match: re.Match[str]) -> str:
    return (match["class"] or match["function"]).rpartition("::")[2]


def _place(file: str, text: str, at: int) -> DefinitionPlace:
    return DefinitionPlace(file, text.count("\n", 0, at) + 1)


def _scanned(file: str, text: str, leaves: set[str]) -> Iterator[_Definition]:
    """Yield the definitions of names in C++, with the namespaces around them."""
    around = _Around()
    found: list[tuple[_Name, int, bool]] = []
    for match in _TOKENS.finditer(text):
        kind = "class" if match["class"] is not None else "function"
        if match[kind] is None:
            around.pass_by(match)
            continue
        *inner, leaf = match[kind].split("::")
        scope = (*around.scope, *inner)
        if kind == "class":
            around.head = (*inner, leaf)
        if leaf in leaves and (kind == "class" or _has_body(text, match.end())):
            arguments = _bare(match["arguments"] or "") if kind == "class" else ""
            is_partial = bool(arguments) and not _is_full(text, match.start())
            found.append((_Name(scope, leaf, arguments), match.start(kind), is_partial))
    scopes = frozenset(around.used)
    for name, at, is_partial in found:
        is_included = file.endswith(".inc")
        yield _Definition(name, _place(file, text, at), scopes, is_included, is_partial)


class _Around:
    """What is around a place in C++, while tokens pass by."""

    def __init__(self) -> None:
        self.used: set[tuple[str, ...]] = set()  # the namespaces that directives may name
        self.head: tuple[str, ...] | None = None  # the class whose brace follows; None without one
        self._braces: list[tuple[str, ...]] = []  # those that are open

    @property
    def scope(self) -> tuple[str, ...]:
        return tuple(part for brace in self._braces for part in brace)

    def pass_by(self, match: re.Match[str]) -> None:
        """Pass a namespace, a directive, a brace, a comment or a literal."""
        if match["using"] is not None:
            used = tuple(match["using"].strip(":").split("::"))
            # A directive is relative to a namespace around it, or to one that is used before.
            self.used |= {used, (*self.scope, *used), ("mlir", *used)}
        elif match["namespace"] is not None:
            names = match["namespace"].split("::") if match["namespace"] else [_ANONYMOUS]
            self._braces.append(tuple(names))
        elif match["brace"] == "{":
            self._braces.append(self.head or (_BODY,))
            self.head = None
        elif match["brace"] == "}" and self._braces:
            self._braces.pop()


def _has_body(text: str, at: int) -> bool:
    """Whether the parameters that begin here are those of a definition."""
    depth = 1
    for match in re.compile(r"[();{}]").finditer(text, at):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if match[0] in ";{}" and depth:
            return False
        if match[0] in ";{}":
            return match[0] == "{"
    return False


def _is_full(text: str, at: int) -> bool:
    """Whether a specialization of a template gives all its arguments."""
    return re.search(r"template\s*<\s*>\s*$", text[max(0, at - 80) : at]) is not None
