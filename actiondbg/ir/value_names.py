"""Names of values that stay the same from stop to stop.

MLIR's printer numbers all values anew at each print, so that ``%8`` may be another value after an
insertion before it. A value here keeps the name under which it was first shown.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from actiondbg.protocol import KEY_MARK

_KEY = re.compile(f"{KEY_MARK}([^ ]*) ([0-9]*) ([^{KEY_MARK}]*){KEY_MARK}")
_NUMBER_OF_KEY = re.compile(r"(/?)([0-9]+)")
_NUMBERED = re.compile(r"%(arg)?(\d+)")


class NamedKey(NamedTuple):
    """A value of a print: the printer's name with its %, the key, and the scope's operation id."""

    name: str
    key: str
    scope: int


class Names:
    """The names of all values, by their keys, and by their scopes.

    Attributes:
        orders: of each kind of print, the order of operations in which the printer's names are
            these.
        scopes: by the operation id of each.
        by_key: the names of all scopes.
    """

    def __init__(self) -> None:
        self.orders: dict[str, str] = {}
        self.scopes: dict[int, _Scope] = {}
        self.by_key: dict[str, str] = {}

    def of_first(self, operations: int, blocks: int) -> Names:
        """Return a copy for another future: without the names of operations and blocks after these.

        Args:
            operations: the largest id to keep.
            blocks: the largest number of a block to keep.
        """

        def is_kept(key: str) -> bool:
            found = _NUMBER_OF_KEY.match(key)
            return found is not None and int(found[2]) <= (blocks if found[1] else operations)

        kept = Names()
        kept.by_key = {key: name for key, name in self.by_key.items() if is_kept(key)}
        for id, scope in self.scopes.items():
            if id <= operations:
                kept.scopes[id] = _Scope()
                for key, name in scope.names.items():
                    if is_kept(key):
                        kept.scopes[id].add(key, name)
        return kept


class ValueNames:
    """The names of a session's values, by their keys.

    A key is the agent's, see docs/protocol.md. Names are unique in a scope: a function, or another
    operation that is isolated from above. Sibling regions share names as MLIR prints them.

    Attributes:
        current: the names; another branch of the run has others.
    """

    def __init__(self) -> None:
        self.current = Names()

    @property
    def orders(self) -> dict[str, str]:
        """Of each kind of print, the order of operations in which the printer's names are these."""
        return self.current.orders

    def clear(self) -> None:
        """Forget all names: other values will have the same keys."""
        self.current = Names()

    def knows(self, scope: int) -> bool:
        """Whether a scope has been learned."""
        return scope in self.current.scopes

    def learn(self, scope: int, named: Iterable[NamedKey]) -> None:
        """Take over the printer's names for the values of a scope that have none yet.

        The names of others are kept, also of those that moved here with a function's body.
        """
        self.current.scopes.setdefault(scope, _Scope())
        new: list[NamedKey] = []
        kept: set[tuple[int, str]] = set()
        for each in named:
            if each.key in self.current.by_key:
                kept.add((each.scope, self.name(each.key, each.scope, hint_of(each.name))))
            else:
                new.append(each)
        for name, key, inner in new:
            here = self.current.scopes.setdefault(inner, _Scope())
            taken = (inner, name) in kept
            self._give(here, key, here.unused(hint_of(name)) if taken else name)

    def name(self, key: str, scope: int, hint: str) -> str:
        """Return a value's name; a value without one gets it now.

        A value that moved to a scope in which another value has its name gets another one.

        Args:
            key: of the value.
            scope: the operation id of its scope.
            hint: the name to prefer, without %; "" for a number, "arg" for a numbered argument.
        """
        name = self.current.by_key.get(key)
        if name is not None and not scope:  # its operation is in no block for a while
            return name
        here = self.current.scopes.setdefault(scope, _Scope())
        if known := here.names.get(key):
            # Time travel leads back to the scope that it had left.
            self.current.by_key[key] = known
            return known
        if name is None or name in here.keys:
            name = here.unused(hint)
        self._give(here, key, name)
        return name

    def known(self, key: str) -> str | None:
        """Return a value's name, or None if it has none yet."""
        return self.current.by_key.get(key)

    def keys(self, name: str, scope: int | None = None) -> list[str]:
        """Return the keys of the values with a name, in one scope or in all of them.

        Args:
            name: with its %; a result's number, as in ``%8#1``, is ignored.
            scope: an operation id.
        """
        name = name.partition("#")[0]
        scopes = (
            self.current.scopes.values()
            if scope is None
            else [self.current.scopes.get(scope, _Scope())]
        )
        return [key for each in scopes for key in each.keys.get(name, [])]

    def scopes(self, text: str) -> set[int]:
        """Return the scopes of the values in a text of the agent."""
        return {int(match[2]) for match in _KEY.finditer(text)}

    def fill(self, text: str) -> str:
        """Return a text of the agent with names in the place of keys."""
        return _KEY.sub(lambda match: self.name(match[1], int(match[2]), match[3]), text)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names that some value has, for completion."""
        return iter(dict.fromkeys(self.current.by_key.values()))

    def _give(self, scope: _Scope, key: str, name: str) -> None:
        self.current.by_key[key] = name
        scope.add(key, name)


class _Scope:
    """The names in one scope, and the keys of each; sibling regions share names."""

    def __init__(self) -> None:
        self.keys: defaultdict[str, list[str]] = defaultdict(list)
        self.names: dict[str, str] = {}  # by key
        self._next = {"%": 0, "%arg": 0}  # above all numbers of these names

    def add(self, key: str, name: str) -> None:
        self.keys[name].append(key)
        self.names[key] = name
        if match := _NUMBERED.fullmatch(name):
            stem = f"%{match[1] or ''}"
            self._next[stem] = max(self._next[stem], int(match[2]) + 1)

    def unused(self, hint: str) -> str:
        if hint in ("", "arg"):
            stem = f"%{hint}"
            return f"{stem}{self._next[stem]}"
        name, number = f"%{hint}", 0
        while name in self.keys:
            name, number = f"%{hint}_{number}", number + 1
        return name


class NamedKeys(NamedTuple):
    """The values of a print, in the agent's order.

    Attributes:
        inside: those that it defines.
        around: all of the function.
        used: its operands, in the print of one operation: the same name may be one of several in
            the function, in sibling regions.
    """

    inside: list[NamedKey]
    around: list[NamedKey]
    used: Sequence[NamedKey] = ()


def read_names(text: str) -> NamedKeys:
    """Read the agent's list of names: NAME KEY lines, each scope begun by an @ID line.

    A line ``=`` divides the values in what was printed from all of the function, if that is more;
    the operands come after a line ``+``.
    """
    listed, _, used = text.partition("+\n")
    inside, _, around = listed.partition("=\n")
    return NamedKeys(_read(inside), _read(around or inside), _read(used))


def _read(text: str) -> list[NamedKey]:
    named: list[NamedKey] = []
    scope = 0
    for line in text.splitlines():
        name, _, key = line.partition(" ")
        if name.startswith("@"):
            scope = int(name[1:])
        else:
            named.append(NamedKey(name, key, scope))
    return named


def hint_of(name: str) -> str:
    """Return the hint that made the printer choose a name: ``%c0_i32_3`` comes from ``c0_i32``."""
    if match := _NUMBERED.fullmatch(name):
        return match[1] or ""
    return re.sub(r"_\d+$", "", name[1:])
