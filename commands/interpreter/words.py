"""Split command lines into words, with quotes and the operators of redirection."""

from __future__ import annotations

import re
from dataclasses import dataclass

from actiondbg.errors import UsageError

_WORD = re.compile(
    r"""\s*(?:
        (?P<operator> 2>>? | >>? | < | \| )
      | (?P<word> (?: [^\s'"\\<>|] | \\. | '[^']*' | "(?:[^"\\]|\\.)*" )+ )
      | (?P<rest> \S )
    )""",
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(r"""\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)\"""", re.DOTALL)


@dataclass(frozen=True)
class Word:
    """A word without its quotes, or an operator; ``start`` is in characters from 0."""

    text: str
    start: int
    operator: bool = False


@dataclass(frozen=True)
class Redirect:
    """Where a command's text goes: ``operator`` is >, >> or |."""

    operator: str
    target: str


def _unquote(match: re.Match[str]) -> str:
    escaped, single, double = match.groups()
    if escaped is not None:
        return escaped
    return single if single is not None else re.sub(r'\\(["\\$`])', r"\1", double)


def split_words(text: str) -> list[Word]:
    """Split as a POSIX shell does.

    Raises:
        UsageError: a quote is not closed.
    """
    words: list[Word] = []
    for match in _WORD.finditer(text):
        if match["rest"]:
            raise UsageError("A quote is not closed.", text, match.start("rest"))
        if match["operator"]:
            words.append(Word(match["operator"], match.start("operator"), operator=True))
        else:
            words.append(Word(_QUOTED.sub(_unquote, match["word"]), match.start("word")))
    return words


def split_redirect(text: str) -> tuple[str, Redirect | None]:
    """Split the redirection off the end of a command's arguments.

    Raises:
        UsageError: the file or the command is missing, or words follow the file.
    """
    if not any(operator in text for operator in ">|"):
        return text, None
    for match in _WORD.finditer(text):
        operator = match["operator"]
        if operator not in (">", ">>", "|"):
            continue
        arguments, target = text[: match.start()], text[match.end() :].strip()
        if operator == "|":
            if not target:
                raise UsageError("Name the command after '|'.", text, match.end())
            return arguments, Redirect(operator, target)
        files = split_words(target)
        if len(files) != 1 or files[0].operator:
            raise UsageError(f"Name one file after {operator!r}.", text, match.end())
        return arguments, Redirect(operator, files[0].text)
    return text, None


@dataclass(frozen=True)
class Stdio:
    """A tool's arguments (None: as before) and the files of its standard streams."""

    arguments: list[str] | None
    stdin: str | None = None
    stdout: str | None = None
    stderr: str | None = None


_STREAMS = {"<": "stdin", ">": "stdout", "2>": "stderr"}


def split_stdio(text: str) -> Stdio:
    """Split ``ARGS... < in > out 2> err`` as ``run`` takes it.

    Raises:
        UsageError: an operator has no file, or is none of the three.
    """
    words = split_words(text)
    arguments: list[str] = []
    files: dict[str, str] = {}
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        if not word.operator:
            arguments.append(word.text)
            continue
        if word.text not in _STREAMS:
            raise UsageError(
                f"{word.text!r} is not for the tool: use <, > or 2>.", text, word.start
            )
        if position == len(words) or words[position].operator:
            raise UsageError(f"Name a file after {word.text!r}.", text, word.start)
        files[_STREAMS[word.text]] = words[position].text
        position += 1
    return Stdio(arguments or None, **files)
