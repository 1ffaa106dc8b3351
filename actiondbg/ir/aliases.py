"""Aliases of attributes and types in printed IR: ``#map``, ``!tensor`` and their definitions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_DEFINITION = re.compile(r"^([#!][A-Za-z_]\w*) = (.*)$", re.MULTILINE)
# Strings and comments are kept. A dialect's attribute, such as #arith.overflow<none>, is no alias.
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*+"|//[^\n]*+|[#!][A-Za-z_]\w*+(?![.\w])')
_NUMBERED = re.compile(r"(.*?)(\d+)")


def with_aliases_of(before: str, after: str) -> str:
    """Return a text in which each alias has the name that ``before`` has for the same definition.

    Aliases are equal if their definitions are, those that they use written out. An alias that is
    only in ``after`` keeps its name unless ``before`` uses it; then it gets the next free one of
    its kind. The definitions come in the order of ``before``, then those that it does not have.

    Args:
        before: MLIR as printed.
        after: the same, later.
    """
    old, new = _definitions(before), _definitions(after)
    if not new or old == new:
        return after
    names = {meaning: name for name, meaning in reversed(_meanings(old).items())}
    chosen = {name: names[it] for name, it in _meanings(new).items() if it in names}
    used = old.keys() | set(chosen.values())
    for name in new.keys() - chosen.keys():
        if name not in used:
            used.add(name)
            chosen[name] = name
    for name in new:
        if name not in chosen:
            chosen[name] = _free(name, used)
            used.add(chosen[name])
    return _in_order(_replaced(after, lambda name: chosen.get(name, name)), list(old))


def _definitions(text: str) -> dict[str, str]:
    """Return the definitions of a text by alias, in their order."""
    if not text.startswith(("#", "!")) and "\n#" not in text and "\n!" not in text:
        return {}
    return {match[1]: match[2] for match in _DEFINITION.finditer(text)}


def _meanings(definitions: Mapping[str, str]) -> dict[str, str]:
    """Return the definitions without aliases: those that they use are written out."""
    meanings: dict[str, str] = {}
    for name, definition in definitions.items():  # an alias is defined before its uses
        meanings[name] = name[0] + _replaced(definition, lambda used: meanings.get(used, used))
    return meanings


def _replaced(text: str, name_of: Callable[[str], str]) -> str:
    return _TOKEN.sub(
        lambda match: name_of(match[0]) if match[0][0] in "#!" else match[0],
        text,
    )


def _free(name: str, used: set[str]) -> str:
    """Return the next name of the same kind that is not used, such as ``#map7``."""
    numbered = _NUMBERED.fullmatch(name)
    stem, count = (numbered[1], int(numbered[2])) if numbered else (name, 1)
    while (found := f"{stem}{count}") in used:
        count += 1
    return found


def _in_order(text: str, names: list[str]) -> str:
    """Sort the definitions at the beginning of a text: those of ``names`` first, in that order."""
    lines = text.split("\n")
    count = next((at for at, line in enumerate(lines) if not _DEFINITION.match(line)), len(lines))
    places = {name: at for at, name in enumerate(names)}
    head = sorted(lines[:count], key=lambda line: places.get(line.partition(" ")[0], len(places)))
    return "\n".join([*head, *lines[count:]])
