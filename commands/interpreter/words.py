"""Words, redirections and options of command lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from actiondbg.commands.render.terminal.output import Redirect
from actiondbg.errors import UsageError

# The arguments of a C++ template, such as <mlir::arith::AddIOp, 2>, are a part of the word: the
# names of patterns have them.
_PLAIN = r"""[^\s'"\\<>|]"""
_TEMPLATE = rf"""(?<=\w) < (?=[^\s'"|]*::) (?: {_PLAIN} | ,[ ] | <(?:{_PLAIN}|,[ ])*> )* >"""
_WORD = re.compile(
    rf"""\s*(?:
        (?P<operator> 2>>? | >>? | < | \| )
      | (?P<word> (?: {_PLAIN} | {_TEMPLATE} | \\. | '[^']*' | "(?:[^"\\]|\\.)*" )+ )
      | (?P<rest> \S )
    )""",
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(r"""\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)\"""", re.DOTALL)


@dataclass(frozen=True)
class Word:
    """A word without its quotes, or an operator, and the index of its first character."""

    text: str
    start: int
    operator: bool = False


def _unquote(match: re.Match[str]) -> str:
    escaped, single, double = match.groups()
    if escaped is not None:
        return escaped
    return single if single is not None else re.sub(r'\\(["\\$`])', r"\1", double)


def split_words(text: str) -> list[Word]:
    """Split text into words like a POSIX shell.

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
    """Split the arguments of a command and its redirection, if any.

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
    """The arguments of a tool (None: unchanged) and the files of its standard streams."""

    arguments: list[str] | None
    stdin: str | None = None
    stdout: str | None = None
    stderr: str | None = None


_STREAMS = {"<": "stdin", ">": "stdout", "2>": "stderr"}


def split_stdio(text: str) -> Stdio:
    """Split ``ARGS... < in > out 2> err``, the arguments of ``run``.

    Raises:
        UsageError: an operator has no file, or is another one.
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
                f"{word.text!r} is not supported for the tool: use <, > or 2>.", text, word.start
            )
        if position == len(words) or words[position].operator:
            raise UsageError(f"Name a file after {word.text!r}.", text, word.start)
        files[_STREAMS[word.text]] = words[position].text
        position += 1
    return Stdio(arguments or None, **files)


# --- options around a text ---------------------------------------------------------------

_VALUE = r"""(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+"""


def take_options(text: str, names: Mapping[str, bool]) -> tuple[list[str], str]:
    """Take options from either end of a text, and from the end of the part before ``if``.

    Args:
        text: the text; its middle is not parsed, as a condition may contain anything.
        names: whether an option takes a value, by its name.

    Returns:
        The options as argparse expects them, and the remaining text.
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
        name, value = match["name"], match["value"]
        taken.append(match["flag"] or f"{name}={split_words(value)[0].text}")
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
