"""The names that values have in the input of a recorded run."""

from __future__ import annotations

from collections.abc import Iterable

_PARTS = ("=", "+")  # lines that divide a list


class InputValues:
    """The names of the input, which a recording holds once.

    Args:
        lists: all of them, as ``ir.value_names.read_names`` reads them.
    """

    def __init__(self, lists: Iterable[str]) -> None:
        self._numbers = (-1, -1)
        # The lines of each scope, by the line of the scope: several lists may have one.
        self._of_scope: dict[str, dict[str, None]] = {}
        self._by_key: dict[str, tuple[str, str]] = {}  # the line of the scope, and the name
        for text in lists:
            self._add(text)

    def _add(self, text: str) -> None:
        scope = ""
        for line in text.splitlines():
            first, _, second = line.partition(" ")
            if line.startswith("!"):
                result, argument = self._numbers
                self._numbers = max(result, int(first[1:])), max(argument, int(second))
            elif line.startswith("@"):
                scope = line
            else:
                self._of_scope.setdefault(scope, {})[line] = None
                self._by_key[first[1:]] = scope, second

    def complete(self, values: str) -> str:
        """Return the list of the values in a text with what the input names among them."""
        if not values or not self._of_scope:
            return values
        numbers = "!{} {}".format(*self._numbers)
        lines, scope, listed = [numbers], "", set[str]()
        for line in values.splitlines():
            if line in _PARTS:
                lines += (line, numbers)
                listed.clear()
            elif line.startswith("@"):
                scope = line
                lines += (line, *(self._of_scope.get(line, ()) if line not in listed else ()))
                listed.add(line)
            else:
                _, _, key = line.partition(" ")
                of_input = self._by_key.get(key)
                if of_input and of_input[0] != scope:
                    lines.append(f">{key} {of_input[1]}")
                lines.append(line)
        return "\n".join((*lines, ""))
