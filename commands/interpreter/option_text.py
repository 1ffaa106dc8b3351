"""Take options off a text whose rest is nobody's words: a SPEC, a condition."""

from __future__ import annotations

import re
from collections.abc import Mapping

from actiondbg.commands.interpreter.words import split_words

_VALUE = r"""(?:[^\s'"]|'[^']*'|"[^"]*")+"""


def take_options(text: str, names: Mapping[str, bool]) -> tuple[list[str], str]:
    """Take the options off either end of a text, and off the end of what precedes its ``if``.

    Args:
        text: what the user wrote; its inside is not looked at, so a condition may hold anything.
        names: by an option's name, whether a value follows it.

    Returns:
        The options as argparse reads them, and the rest of the text.
    """
    text = text.strip()
    if not names:
        return [], text
    option = _option(names)
    places = [
        re.compile(rf"{option}(?:\s+|$)"),
        re.compile(rf"(?P<before>.*)(?<!\S){option}$", re.DOTALL),
        re.compile(rf"(?P<before>(?:(?!\sif\s).)*?)(?<!\S){option}(?=\s+if\s)", re.DOTALL),
    ]
    taken: list[str] = []
    while match := next((m for place in places if (m := place.match(text))), None):
        taken.append(_word(match))
        before = match.groupdict().get("before") or ""
        text = f"{before.rstrip()} {text[match.end() :].lstrip()}".strip()
    return taken, text


def _option(names: Mapping[str, bool]) -> str:
    flags = [re.escape(name) for name, valued in names.items() if not valued]
    valued = [re.escape(name) for name, valued in names.items() if valued]
    never = "(?!)"
    return (
        rf"(?:(?P<flag>{'|'.join(flags) or never})"
        rf"|(?P<name>{'|'.join(valued) or never})(?:=|\s+)(?P<value>{_VALUE}))"
    )


def _word(match: re.Match[str]) -> str:
    if match["flag"]:
        return match["flag"]
    return f"{match['name']}={split_words(match['value'])[0].text}"
