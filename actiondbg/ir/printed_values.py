"""The values of printed IR, and the text under other names."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property

from actiondbg.ir.resolved_text import ResolvedText, certain_keys, keys_by_scope
from actiondbg.ir.tokens import COMMENT, RESULT, STRING, VALUE
from actiondbg.ir.value_names import NamedKey, NamedKeys, ValueNames, hint_of

_NAME_OR_TEXT = re.compile(rf"(?P<name>{VALUE})|{STRING}|{COMMENT}")
_RESULTS = re.compile(rf"[ \t]*(?P<name>{VALUE})(?::\d+)?(?:, {RESULT})* =(?!=)")


class PrintedValues:
    """The values of printed IR; names are resolved only where several values have the same."""

    def __init__(self, text: str, named: NamedKeys) -> None:
        self.text = text
        self.named = named

    @cached_property
    def _alone(self) -> dict[str, NamedKey]:
        """The values whose names no other value has, by name."""
        count = Counter(each.name for each in self.named.around)
        return {each.name: each for each in self.named.around if count[each.name] == 1}

    @cached_property
    def _by_key(self) -> dict[str, NamedKey]:
        return {each.key: each for each in self.named.around}

    @cached_property
    def _resolved(self) -> ResolvedText:
        return ResolvedText(self.text, {each.name for each in self.named.inside})

    @cached_property
    def _keys(self) -> dict[int, str]:
        """The certain keys of the values of the resolved text."""
        named, resolved = self.named, self._resolved
        keys = certain_keys(resolved, [(each.name, each.key) for each in named.inside])
        if len(keys) < len(named.inside):
            keys |= keys_by_scope(resolved, named.inside)
        alone = {name: each.key for name, each in self._alone.items()}
        alone |= {each.name: each.key for each in named.used if each.key in self._by_key}
        for value in resolved.outside:  # such as operands, when one operation was printed
            if (name := resolved.names[value]) in alone:
                keys[value] = alone[name]
        return keys

    def renamed(self, names: ValueNames) -> str:
        """Return the text with the session's names; names whose value is uncertain are kept."""
        named, text = self.named, self.text
        new = {each.key: _name_of(each, names) for each in named.around}
        if all(new[each.key] == each.name for each in named.around):
            return text
        if len(self._alone) == len(named.around):
            return self._replaced(0, len(text), lambda value: new[value.key])
        resolved, keys = self._resolved, self._keys
        chosen = {
            value: new[keys[value]] if value in keys else resolved.names[value]
            for value in {*resolved.regions, *resolved.values}
        }
        return resolved.renamed(chosen)

    # --- a few lines ---

    @cached_property
    def starts(self) -> list[int]:
        """Where each line of the text begins."""
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    def line(self, at: int, names: ValueNames | None = None) -> str:
        """Return a line, from 0, with the session's names, or those of the printer.

        Only the values on it get names.
        """
        start, end = self.starts[at], self._end_of(at)
        return (
            self.text[start:end]
            if names is None
            else self._replaced(start, end, lambda value: _name_of(value, names))
        )

    def _replaced(self, start: int, end: int, name_of: Callable[[NamedKey], str]) -> str:
        """Return a part of the text with the names that ``name_of`` returns."""
        parts: list[str] = []
        last = start
        for found in _NAME_OR_TEXT.finditer(self.text, last, end):
            name = found["name"]
            value = self._value(name, found.start()) if name else None
            if value is not None:
                parts += (self.text[last : found.start()], name_of(value))
                last = found.end()
        return "".join((*parts, self.text[last:end]))

    def defined(self, at: int) -> str | None:
        """Return the key of the first result of the operation that begins on a line, from 0."""
        found = _RESULTS.match(self.text, self.starts[at], self._end_of(at))
        value = None if found is None else self._value(found["name"], found.start("name"))
        return None if value is None else value.key

    def line_of(self, key: str) -> int | None:
        """Return the line, from 0, of the operation with a result; None if it is not certain."""
        if key not in self._by_key:
            return None
        name = self._by_key[key].name
        if name in self._alone:
            begins = rf"^[ \t]*(?:{RESULT}, )*{re.escape(name)}(?::\d+)?(?:, | =)"
            found = re.search(begins, self.text, re.M)
            return None if found is None else bisect_right(self.starts, found.start()) - 1
        for value, other in self._keys.items():
            if other == key:
                return bisect_right(self.starts, self._resolved.starts[value]) - 1
        return None

    def has(self, key: str) -> bool:
        """Whether the text has a value."""
        return key in self._by_key

    def visible(self, keys: Sequence[str], at: str) -> list[str]:
        """Return the keys of those values that are visible to the operation with a result."""
        values = {key: value for value, key in self._keys.items()}
        if at not in values:
            return []
        regions = self._resolved.regions
        around = self._resolved.around[regions[values[at]]]
        return [key for key in keys if key in values and regions[values[key]] in around]

    def _end_of(self, at: int) -> int:
        return self.starts[at + 1] - 1 if at + 1 < len(self.starts) else len(self.text)

    def _value(self, name: str, start: int) -> NamedKey | None:
        """Return the value of an occurrence of a name; None if it is not certain."""
        if name in self._alone or not self._by_key:
            return self._alone.get(name)
        resolved = self._resolved
        at = bisect_left(resolved.starts, start)
        if at == len(resolved.starts) or resolved.starts[at] != start:
            return None
        return self._by_key.get(self._keys.get(resolved.values[at], ""))


def _name_of(value: NamedKey, names: ValueNames) -> str:
    return names.name(value.key, value.scope, hint_of(value.name))
