"""Textual pass pipelines: ``builtin.module(func.func(cse,canonicalize{max-iterations=10}))``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

_OPEN, _CLOSE = "({[", ")}]"
_NAME = re.compile(r"\s*([^\s(){},]*)\s*")


@dataclass(frozen=True)
class Element:
    """A pass, or an operation with the pipeline that runs on it.

    Args:
        name: the pass's argument, or the operation's name.
        options: what stands in its braces, blanks made one; empty without any.
        inner: the pipeline in its parentheses; None for a pass.
    """

    name: str
    options: str = ""
    inner: tuple[Element, ...] | None = None

    def __str__(self) -> str:
        options = f"{{{self.options}}}" if self.options else ""
        inner = "" if self.inner is None else f"({','.join(map(str, self.inner))})"
        return f"{self.name}{options}{inner}"


def parse_pipeline(text: str) -> Element | None:
    """Parse a pipeline that begins with an operation's name; None if it is written otherwise."""
    found = list(_elements(text))
    if len(found) != 1 or found[0] is None or found[0].inner is None:
        return None
    return found[0]


def normal(pipeline: str) -> str:
    """Return a pipeline without the blanks that it does not need, if it can be read."""
    return str(parse_pipeline(pipeline) or pipeline)


def continuations(pipeline: str, one: str) -> list[tuple[str, str]]:
    """Cut a pipeline at each place of a pass.

    Args:
        pipeline: all that the tool runs.
        one: a pass, as a pipeline from the outermost operation.

    Returns:
        For each place, in order: the pipeline from the pass on, and that of what comes after it.
    """
    whole, single = parse_pipeline(pipeline), parse_pipeline(one)
    if whole is None or single is None:
        return []
    wanted = single
    while wanted.inner:
        wanted = wanted.inner[-1]
    return [(str(first), str(rest)) for first, rest in _cuts(whole, wanted)]


def dumped_pipelines(text: str) -> list[str]:
    """Return the pipelines in what ``--dump-pass-pipeline`` wrote among other lines.

    Source: mlir/lib/Tools/mlir-opt/MlirOptMain.cpp, mlir/lib/Pass/Pass.cpp (dump).
    """
    found: list[str] = []
    for part in re.split(r"^Pass Manager with \d+ pass(?:es)?:\n", text, flags=re.MULTILINE)[1:]:
        end = next((at for at in range(len(part)) if _is_whole(part, at)), None)
        if end is not None:
            found.append(part[: end + 1])
    return found


def _is_whole(text: str, at: int) -> bool:
    """Whether a pipeline that begins ``text`` ends at a place: its last line is a ``)`` alone."""
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
    """Yield the elements of a comma-separated list; None for what cannot be read."""
    for part in _split(text):
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
    """Return what is in the bracket that begins a text, and what follows it."""
    text = text.lstrip()
    if not text.startswith(bracket):
        return None, text
    end = next((at for at, depth in _depths(text) if not depth), None)
    return (None, text) if end is None else (text[1:end], text[end + 1 :])


def _split(text: str) -> Iterator[str]:
    start = 0
    for at, depth in _depths(text):
        if not depth and text[at] == ",":
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _depths(text: str) -> Iterator[tuple[int, int]]:
    """Yield each place outside of quotes, from 0, with how many brackets are open after it."""
    depth, quote = 0, ""
    for at, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        else:
            depth += (character in _OPEN) - (character in _CLOSE)
            yield at, depth
