"""Textual pass pipelines: ``builtin.module(func.func(cse,canonicalize{max-iterations=10}))``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

_OPEN, _CLOSE = "({[", ")}]"
_NAME = re.compile(r"\s*([^\s(){},]*)\s*")


@dataclass(frozen=True)
class Element:
    """A pass, or an operation with the pipeline that runs on it."""

    name: str  # the pass's argument, or the operation's name
    options: str = ""  # the text in braces, with single blanks; empty for none
    inner: tuple[Element, ...] | None = None  # the pipeline in parentheses; None for a pass

    def __str__(self) -> str:
        options = f"{{{self.options}}}" if self.options else ""
        inner = "" if self.inner is None else f"({','.join(map(str, self.inner))})"
        return f"{self.name}{options}{inner}"


def parse_pipeline(text: str) -> Element | None:
    """Parse a pipeline that starts with an operation's name; None for other text."""
    found = list(_elements(text))
    if len(found) != 1 or found[0] is None or found[0].inner is None:
        return None
    return found[0]


def normalize_pipeline(pipeline: str) -> str:
    """Remove unneeded blanks from a pipeline; return it unchanged if it cannot be parsed."""
    return str(parse_pipeline(pipeline) or pipeline)


def continuations(pipeline: str, one: str) -> list[tuple[str, str]]:
    """Cut a pipeline at each occurrence of a pass, as a pipeline from the outermost operation.

    Returns:
        For each occurrence: the pipeline from the pass on, and the pipeline after the pass.
    """
    whole, single = parse_pipeline(pipeline), parse_pipeline(one)
    if whole is None or single is None:
        return []
    wanted = single
    while wanted.inner:
        wanted = wanted.inner[-1]
    return [(str(first), str(rest)) for first, rest in _cuts(whole, wanted)]


def dumped_pipelines(text: str) -> list[str]:
    """Return the pipelines in the output of ``--dump-pass-pipeline``.

    Source: mlir/lib/Tools/mlir-opt/MlirOptMain.cpp, mlir/lib/Pass/Pass.cpp (dump).
    """
    found: list[str] = []
    for part in re.split(r"^Pass Manager with \d+ pass(?:es)?:\n", text, flags=re.MULTILINE)[1:]:
        end = next((at for at in range(len(part)) if _is_whole(part, at)), None)
        if end is not None:
            found.append(part[: end + 1])
    return found


def _is_whole(text: str, at: int) -> bool:
    """Return whether the pipeline that starts ``text`` ends here: its last line is ``)``."""
    return text[at] == ")" and (at == 0 or text[at - 1] == "\n")


def _cuts(element: Element, wanted: Element) -> Iterator[tuple[Element, Element]]:
    inner = element.inner or ()
    for at, each in enumerate(inner):
        tail = inner[at + 1 :]
        if each.inner is not None:
            for first, rest in _cuts(each, wanted):
                kept = (rest,) if rest.inner else ()
                yield (
                    replace(element, inner=(first, *tail)),
                    replace(element, inner=(*kept, *tail)),
                )
        elif (each.name, each.options) == (wanted.name, wanted.options):
            yield replace(element, inner=(each, *tail)), replace(element, inner=tail)


def _elements(text: str) -> Iterator[Element | None]:
    """Yield the elements of a comma-separated list; None for an element that cannot be parsed."""
    for part in split_outside(text, ","):
        match = _NAME.match(part)
        name, rest = (match[1], part[match.end() :]) if match else ("", part)
        options, rest = _bracketed(rest, "{")
        inside, rest = _bracketed(rest, "(")
        if not name or rest.strip():
            yield None
            continue
        inner = None if inside is None else list(_elements(inside)) if inside.strip() else []
        if inner is not None and None in inner:
            yield None
            continue
        yield Element(
            name,
            " ".join((options or "").split()),
            None if inner is None else tuple(each for each in inner if each is not None),
        )


def _bracketed(text: str, bracket: str) -> tuple[str | None, str]:
    """Return the text in the bracket that starts a text, and the text after the bracket."""
    text = text.lstrip()
    if not text.startswith(bracket):
        return None, text
    end = next((at for at, depth in depths(text) if not depth), None)
    return (None, text) if end is None else (text[1:end], text[end + 1 :])


def split_outside(text: str, separator: str, strict: bool = False) -> Iterator[str]:
    """Split a text at a character outside of quotes and brackets; for ``strict`` see ``depths``."""
    start = 0
    for at, depth in depths(text, strict):
        if not depth and text[at] == separator:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def options_of(text: str) -> dict[str, str]:
    """Return the options of a pass, by name: ``NAME`` or ``NAME=VALUE`` as they are written."""
    return {each.partition("=")[0]: each for each in split_outside(text, " ") if each}


def depths(text: str, strict: bool = False) -> Iterator[tuple[int, int]]:
    """Yield each index outside of quotes and the number of open brackets after it.

    Raises:
        ValueError: a quote is not closed, and ``strict``.
    """
    depth, quote = 0, ""
    for at, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        else:
            depth += (character in _OPEN) - (character in _CLOSE)
            yield at, depth
    if quote and strict:
        raise ValueError(f"A quote {quote} is not closed")
