"""Aliases of attributes, types and locations in printed IR: their definitions and their uses."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping

from actiondbg.ir.tokens import COMMENT, STRING

# Attributes such as #util.composite<> go on in lines that are indented, or begin with a bracket.
_DEFINITION = re.compile(
    r"^([#!][A-Za-z_][\w$-]*) = (.*(?:\n(?:[ \t]+\S|[\])}>]).*)*)\n?", re.MULTILINE
)
# Strings and comments are kept. A dialect's attribute, such as #arith.overflow<none>, is no alias.
_TOKEN = re.compile(rf"{STRING}|{COMMENT}|[#!][A-Za-z_][\w$-]*+(?![\w$.<-])")
_ATTRIBUTE = re.compile(r"#[A-Za-z_][\w$.]*<")
_NUMBERED = re.compile(r"(.*?)(\d+)")
_LONGEST = 4000  # characters of a definition; nested call sites grow with each level


def definitions(text: str) -> dict[str, str]:
    """Return the definitions of a text by alias, in their order."""
    if not text.startswith(("#", "!")) and "\n#" not in text and "\n!" not in text:
        return {}
    return dict(_DEFINITION.findall(text))


def with_aliases_of(before: str, after: str) -> str:
    """Return a text in which each alias has the name that ``before`` has for the same definition.

    Aliases are equal if their definitions are, those that they use written out. An alias that is
    only in ``after`` keeps its name unless ``before`` uses it; then it gets the next free one of
    its kind. The definitions come in the order of ``before``, then those that it does not have.
    """
    old, new = definitions(before), definitions(after)
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
    return _in_order(with_names(after, lambda name: chosen.get(name, name)), list(old))


def without_aliases(text: str, *, bare: bool = False) -> str:
    """Return a text with the definitions of its aliases in their places.

    Args:
        text: a dump; that of a module has aliases, that of a nested function has none.
        bare: leave out the names of attributes with parameters, which are printed with an alias,
            but not always without one.
    """
    meanings = _meanings(definitions(text))
    if meanings:
        body = _DEFINITION.sub("", text)
        text = with_names(body, lambda name: meanings[name][1:] if name in meanings else name)
    return _ATTRIBUTE.sub("<", text) if bare else text


def with_used(part: str, known: Mapping[str, str]) -> str:
    """Return a part of a text with those definitions of the text that it uses."""
    seen: set[str] = set()
    above: dict[str, str] = {}
    waiting = _uses(part)
    while waiting:
        name = waiting[-1]
        inside = _uses(known.get(name, "")) if name not in seen else []
        if inside:
            seen.add(name)
            waiting += inside  # their definitions first
            continue
        waiting.pop()
        if name in known:
            above[name] = f"{name} = {known[name]}\n"
    return "".join((*above.values(), part))


def with_names(text: str, name_of: Callable[[str], str]) -> str:
    """Return a text with other names of its aliases, and of what looks like them."""
    return _TOKEN.sub(
        lambda match: name_of(match[0]) if match[0][0] in "#!" else match[0],
        text,
    )


def with_suffix(text: str, suffix: str) -> str:
    """Return a text whose aliases have other names, for a text that has aliases of its own."""
    names = definitions(text)
    return with_names(text, lambda name: f"{name}{suffix}" if name in names else name)


def _meanings(known: Mapping[str, str]) -> dict[str, str]:
    """Return the definitions with definitions for the aliases in them, behind ``#`` or ``!``."""
    meanings: dict[str, str] = {}
    for _ in range(2):  # most are defined before they are used
        for name, definition in known.items():
            is_location = definition.startswith("loc(") and definition.endswith(")")
            bare = definition[len("loc(") : -1] if is_location else definition
            meaning = with_names(
                bare, lambda used: meanings[used][1:] if used in meanings else used
            )
            if len(meaning) > _LONGEST:
                meaning = hashlib.sha256(meaning.encode(errors="replace")).hexdigest()
            meanings[name] = name[0] + meaning
    return meanings


def _uses(text: str) -> list[str]:
    return [token for token in _TOKEN.findall(text) if token[0] in "#!"]


def _free(name: str, used: set[str]) -> str:
    """Return the next name of the same kind that is not used, such as ``#map7``."""
    numbered = _NUMBERED.fullmatch(name)
    stem, count = (numbered[1], int(numbered[2])) if numbered else (name, 1)
    while (found := f"{stem}{count}") in used:
        count += 1
    return found


def _in_order(text: str, names: list[str]) -> str:
    """Sort the definitions at the beginning of a text: those of ``names`` first, in that order."""
    end = 0
    head: list[tuple[int, str]] = []
    places = {name: at for at, name in enumerate(names)}
    while match := _DEFINITION.match(text, end):
        head.append((places.get(match[1], len(places)), match[0]))
        end = match.end()
    return "".join([*(text for _, text in sorted(head, key=lambda one: one[0])), text[end:]])
