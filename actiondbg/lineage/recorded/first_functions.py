"""In which function each operation of a run was first, where modules have functions of one name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from actiondbg.lineage.stage import Operation, Stage, symbol_around


class FirstFunctions:
    """Tells the functions of the input apart.

    Args:
        first: the input.
        acted_on: returns the operations of an action and of those around it, the innermost first.
    """

    def __init__(self, first: Stage, acted_on: Callable[[int], Iterable[int]]) -> None:
        self._first = first
        self._acted_on = acted_on
        self._holders: dict[str, list[Operation]] = {}
        for index, symbol in first.symbols.items():
            self._holders.setdefault(symbol, []).append(Operation(first, index))

    def of_input(self) -> Iterator[tuple[int, str]]:
        """Iterate over the operations of the input, by number, with their functions."""
        for one in self._first:
            symbol = symbol_around(one)
            if len(self._holders.get(symbol, ())) > 1:
                holder = next(each for each in one.around if each.symbol)
                symbol = _distinct(holder)
            yield one.node, symbol

    def of_made(self, symbol: str, ordinal: int) -> str:
        """Return the function of an operation that an action made, of which the symbol is known."""
        holders = self._holders.get(symbol, ())
        if len(holders) < 2:
            return symbol
        for number in self._acted_on(ordinal):
            inside = [one for one in holders if number in {one.node, *_nodes(one.around)}]
            if inside:
                return _distinct(inside[0]) if len(inside) == 1 else symbol
        return symbol


def _nodes(operations: Iterable[Operation]) -> Iterator[int]:
    return (one.node for one in operations)


def _distinct(holder: Operation) -> str:
    return f"{holder.symbol} @{holder.node}"
