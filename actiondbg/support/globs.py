"""The globs of breakpoints and conditions, checked before the agent sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from actiondbg.errors import UsageError


def check_glob(glob: str, text: str, offset: int) -> None:
    """Refuse a glob that the agent cannot compile.

    Args:
        glob: with ``*``, ``?``, ``[a-z]`` and ``\\`` before a literal character.
        text: the user's text, for the error.
        offset: the position of the glob in ``text``, in characters from 0.

    Raises:
        UsageError: a ``[`` is not closed, a range is empty, or the glob ends with a ``\\``.

    Source: llvm/lib/Support/GlobPattern.cpp.
    """
    i = 0
    while i < len(glob):
        if glob[i] == "[":
            # A ] right after the [ belongs to the set.
            end = glob.find("]", i + 2)
            if end < 0:
                raise UsageError(
                    f"The [ in {glob!r} is not closed: write \\[ for the character itself.",
                    text,
                    offset + i,
                )
            _check_ranges(glob[i + 1 : end], text, offset + i + 1)
            i = end
        elif glob[i] == "\\":
            if i + 1 == len(glob):
                raise UsageError(
                    f"The \\ at the end of {glob!r} escapes nothing: write \\\\ for the "
                    "character itself.",
                    text,
                    offset + i,
                )
            i += 1
        i += 1


def is_literal(glob: str) -> bool:
    """Return whether a glob matches one text only: itself."""
    return not any(character in glob for character in "*?[\\")


def escape_glob(text: str) -> str:
    """Return a glob that matches a text only."""
    return re.sub(r"([*?\[\]{}\\])", r"\\\1", text)


def glob_matches(glob: str, text: str) -> bool:
    """Return whether a valid glob matches a whole text, as in the agent."""
    return compiled_glob(glob).fullmatch(text) is not None


@lru_cache(maxsize=256)
def compiled_glob(glob: str) -> re.Pattern[str]:
    """Return the regular expression of a valid glob, for matches of whole texts."""
    return re.compile(glob_regex(glob), re.DOTALL)


def glob_regex(glob: str) -> str:
    """Return the regular expression of a valid glob, in the common syntax of Python and RE2."""
    return "".join(_regexes(glob))


def _regexes(glob: str) -> Iterator[str]:
    i = 0
    while i < len(glob):
        if glob[i] == "[":
            end = glob.index("]", i + 2)
            inside = glob[i + 1 : end]
            negated = inside[0] in "^!"
            escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[negated:])
            # An empty negation matches any character.
            yield f"[{'^' if negated else ''}{escaped}]" if escaped else "."
            i = end
        elif glob[i] == "\\":
            i += 1
            yield re.escape(glob[i])
        else:
            yield {"*": ".*", "?": "."}.get(glob[i]) or re.escape(glob[i])
        i += 1


def _check_ranges(members: str, text: str, offset: int) -> None:
    at = 1 if members[0] in "^!" else 0
    while at + 2 < len(members):
        if members[at + 1] != "-":
            at += 1
            continue
        if members[at] > members[at + 2]:
            raise UsageError(
                f"The range {members[at : at + 3]!r} is empty: write its smaller end first.",
                text,
                offset + at,
            )
        at += 3
