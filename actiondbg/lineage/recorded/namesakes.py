"""Functions and symbols of one name in several modules of a run, told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from actiondbg.lineage.stage import Operation, Stage, symbol_around


class FirstFunctions:
    """Tells in which function of the input each operation of a run was first.

    Args:
        first: the input.
        acted_on: returns the operation of an action, then the operations of the actions around it,
            the innermost first.
    """

    def __init__(self, first: Stage, acted_on: Callable[[int], Iterable[int]]) -> None:
        self._first = first
        self._acted_on = acted_on
        self._counts = Counter(first.symbols.values())
        # By symbol and operation, the functions of a name of several that are inside.
        self._inside: dict[tuple[str, int], list[int]] = {}
        for index, symbol in first.symbols.items():
            if self._counts[symbol] > 1:
                for one in (index, *first.around(index)):
                    self._inside.setdefault((symbol, one), []).append(first.nodes[index])
        self._made_in: dict[int, int] = {}  # by an operation that was made, its function

    def of_input(self) -> Iterator[tuple[int, str]]:
        """Iterate over the operations of the input, by number, with their functions."""
        for one in self._first:
            symbol = symbol_around(one)
            if self._counts[symbol] > 1:
                holder = next(each for each in one.around if each.symbol)
                symbol = _distinct(symbol, holder.node)
            yield one.node, symbol

    def of_made(self, number: int, symbol: str, ordinal: int) -> str:
        """Return the function of an operation that an action made; empty if several are possible.

        Operations have to be asked for in the order in which they were made.

        Args:
            number: of the operation.
            symbol: of the function.
            ordinal: of the action.
        """
        if self._counts[symbol] < 2:
            return symbol
        for acted_on in self._acted_on(ordinal):
            known = self._first.of_node(self._made_in.get(acted_on, acted_on))
            found = () if known is None else self._around(known, symbol)
            if len(found) == 1:
                self._made_in[number] = found[0]
                return _distinct(symbol, found[0])
            if found:
                break
        return ""

    def _around(self, operation: Operation, symbol: str) -> Sequence[int]:
        """Return the functions of a name in an operation, or in the nearest around it with any."""
        scopes = (operation.index, *self._first.around(operation.index))
        found = (self._inside.get((symbol, one)) for one in scopes)
        return next((ones for ones in found if ones), ())


def _distinct(symbol: str, node: int) -> str:
    return f"{symbol} @{node}"


class Definers:
    """Finds the operations that define the symbols of a stage: several scopes may have one name."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._inside: dict[tuple[int, str], int] = {}
        self._deeper: dict[tuple[int, str], int] = {}  # the last one anywhere in a scope
        for index, name in stage.symbols.items():
            self._inside[stage.parents[index], name] = index
            for scope in (index, *stage.around(index)):
                self._deeper[scope, name] = index

    def of(self, user: int, path: str) -> Iterator[int]:
        """Iterate over what the parts of a path mean for the operation that has it."""
        scopes = [user, *self._stage.around(user)]
        for part in path.split("::"):
            # Else deeper in a scope, as in the module of an executable.
            found = (
                known[scope, part]
                for known in (self._inside, self._deeper)
                for scope in scopes
                if (scope, part) in known
            )
            if (definer := next(found, None)) is not None:
                yield definer
                scopes = [definer, *scopes]
