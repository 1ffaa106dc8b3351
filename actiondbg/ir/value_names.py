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
    """The names of all values, by their keys, and by their scopes."""

    def __init__(self) -> None:
        # Of each kind of print, the order of operations in which the printer's names are these.
        self.orders: dict[str, str] = {}
        self.scopes: dict[int, _Scope] = {}  # by the operation id of each
        self.by_key: dict[str, str] = {}  # the names of all scopes
        # The names that values have in the input, and its largest numbers of results and arguments:
        # no other value gets one of them.
        self.of_input = InputNames()

    def of_first(self, operations: int, blocks: int) -> Names:
        """Return a copy for another future: without names of operations and blocks after these."""

        def is_kept(key: str) -> bool:
            found = _NUMBER_OF_KEY.match(key)
            return found is not None and int(found[2]) <= (blocks if found[1] else operations)

        kept = Names()
        kept.of_input = self.of_input
        kept.by_key = {key: name for key, name in self.by_key.items() if is_kept(key)}
        for id, scope in self.scopes.items():
            if id <= operations:
                kept.scopes[id] = _Scope(self.of_input)
                for key, name in scope.names.items():
                    if is_kept(key):
                        kept.scopes[id].add(key, name)
        return kept


class ValueNames:
    """The names of a session's values, by their keys.

    A key is the agent's, see docs/protocol.md. Names are unique in a scope: a function, or another
    operation that is isolated from above. Sibling regions share names as MLIR prints them.
    """

    def __init__(self) -> None:
        self.current = Names()  # the names; another branch of the run has others

    @property
    def orders(self) -> dict[str, str]:
        """Of each kind of print, the order of operations in which the printer's names are these."""
        return self.current.orders

    def clear(self) -> None:
        """Forget all names: other values will have the same keys."""
        self.current = Names()

    def learn_all(self, named: NamedKeys) -> None:
        """Give names to the values of the scopes of a print that were not learned before."""
        if all(self.knows(scope) for scope in {each.scope for each in named.around}):
            return
        scopes = named.by_scope()
        for scope in dict.fromkeys(each.scope for each in named.around):
            if not self.knows(scope):
                self.learn(scope, scopes[scope])

    def knows(self, scope: int) -> bool:
        """Whether a scope has been learned."""
        return scope in self.current.scopes

    def has_names(self, scope: int) -> bool:
        """Whether values of a scope have names."""
        return scope in self.current.scopes and bool(self.current.scopes[scope].names)

    def learn(self, scope: int, named: NamedKeys) -> None:
        """Give names to the values of a scope that have none yet.

        A value has the name of the input, otherwise that of the printer. The names of others are
        kept, also of those that moved here with a function's body.
        """
        if max(named.numbers) >= 0:
            result, argument = named.numbers
            self.current.of_input.numbers = {"%": result + 1, "%arg": argument + 1}
        self._scope(scope)
        kept = self._take_given(named.given)
        self._take_moved(named.moved)
        new: list[NamedKey] = []
        for each in named.around:
            if each.key in self.current.by_key:
                kept.add((each.scope, self.name(each.key, each.scope, hint_of(each.name))))
            else:
                new.append(each)
        for name, key, inner in new:
            here = self._scope(inner)
            if (inner, name) in kept or here.is_of_input(name):
                name = here.unused(hint_of(name))
                # For no later value; the printer's names are repeated in sibling regions.
                kept.add((inner, name))
            self._give(here, key, name)

    def _take_given(self, given: Sequence[NamedKey]) -> set[tuple[int, str]]:
        """Give values their names in the input; return the names by scope."""
        self.current.of_input.names.update(each.name for each in given)
        for name, key, inner in given:
            if key not in self.current.by_key:
                self._give(self._scope(inner), key, name)
        return {(inner, name) for name, _, inner in given}

    def _take_moved(self, moved: Iterable[NamedKey]) -> None:
        """Give values of other scopes their names in the input, unless others have them here."""
        for name, key, inner in moved:
            here = self._scope(inner)
            if key not in self.current.by_key and name not in here.keys:
                self._give(here, key, name)

    def _scope(self, id: int) -> _Scope:
        found = self.current.scopes.get(id)
        if found is None:
            found = self.current.scopes[id] = _Scope(self.current.of_input)
        return found

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
        here = self._scope(scope)
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
            else [self.current.scopes[scope]]
            if scope in self.current.scopes
            else []
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


class InputNames:
    """The names in the input, as far as they are known, and the first numbers after its."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.numbers = {"%": 0, "%arg": 0}


class _Scope:
    """The names in one scope, and the keys of each; sibling regions share names."""

    def __init__(self, of_input: InputNames) -> None:
        self._of_input = of_input
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
            return f"{stem}{max(self._next[stem], self._of_input.numbers[stem])}"
        name, number = f"%{hint}", 0
        while name in self.keys or name in self._of_input.names:
            name, number = f"%{hint}_{number}", number + 1
        return name

    def is_of_input(self, name: str) -> bool:
        """Whether a name is one of the input, so that no other value may have it."""
        if match := _NUMBERED.fullmatch(name):
            return int(match[2]) < self._of_input.numbers[f"%{match[1] or ''}"]
        return name in self._of_input.names


class NamedKeys(NamedTuple):
    """The values of a print, in the agent's order."""

    inside: list[NamedKey]  # those that it defines
    around: list[NamedKey]  # all of the function
    # Its operands, in the print of one operation: the same name may be one of several in the
    # function, in sibling regions.
    used: Sequence[NamedKey] = ()
    # Values of these scopes under their names in the input, also those that are erased.
    given: Sequence[NamedKey] = ()
    moved: Sequence[NamedKey] = ()  # values that the input names in other scopes
    # The largest numbers of results and of arguments in the input; -1 for none.
    numbers: tuple[int, int] = (-1, -1)

    def by_scope(self) -> dict[int, NamedKeys]:
        """Return the values of each scope."""
        found: dict[int, NamedKeys] = {}
        for name in ("inside", "around", "given", "moved"):
            for each in getattr(self, name):
                if each.scope not in found:
                    found[each.scope] = NamedKeys([], [], given=[], moved=[], numbers=self.numbers)
                getattr(found[each.scope], name).append(each)
        return found


def read_names(text: str) -> NamedKeys:
    """Read the agent's list of names: NAME KEY lines, each scope begun by an @ID line.

    A line ``=`` divides the values in what was printed from all of the function, if that is more;
    the operands come after a line ``+``. A line ``.KEY NAME`` has the name that a value of the
    scope has in the input, ``>KEY NAME`` that of a value of another scope, and a line
    ``!RESULT ARGUMENT`` the largest numbers there.
    """
    listed, _, used = text.partition("+\n")
    inside, _, around = listed.partition("=\n")
    first = _read(inside)
    whole = _read(around) if around else first
    return whole._replace(inside=first.inside, around=whole.inside, used=_read(used).inside)


def _read(text: str) -> NamedKeys:
    named: list[NamedKey] = []
    given: list[NamedKey] = []
    moved: list[NamedKey] = []
    scope, numbers = 0, (-1, -1)
    for line in text.splitlines():
        name, _, key = line.partition(" ")
        if name.startswith("@"):
            scope = int(name[1:])
        elif name.startswith("."):
            given.append(NamedKey(key, name[1:], scope))
        elif name.startswith(">"):
            moved.append(NamedKey(key, name[1:], scope))
        elif name.startswith("!"):
            numbers = int(name[1:]), int(key)
        else:
            named.append(NamedKey(name, key, scope))
    return NamedKeys(named, named, given=given, moved=moved, numbers=numbers)


def hint_of(name: str) -> str:
    """Return the hint that made the printer choose a name: ``%c0_i32_3`` comes from ``c0_i32``."""
    if match := _NUMBERED.fullmatch(name):
        return match[1] or ""
    return re.sub(r"_\d+$", "", name[1:])
