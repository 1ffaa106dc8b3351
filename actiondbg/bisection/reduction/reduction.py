"""Reduce an input, as long as a predicate over files holds.

MLIR's Python bindings remove operations and keep the module valid, so that few attempts fail. An
input that the bindings cannot parse (other dialects, Fortran) is reduced by its lines. mlir-reduce
cannot replace this: it removes only direct children of the module, and its test is a script.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from actiondbg.bisection.reduction.removable_operations import read_operations
from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.ir.tokens import COMMENT, STRING
from actiondbg.support.counts import counted

IsInteresting = Callable[[Path], bool]
_SEPARATOR = "// -----"  # of --split-input-file
_STRING = re.compile(rf"{STRING}|{COMMENT}")


@dataclass(frozen=True)
class Reduced:
    """A reduced input.

    Args:
        path: the smallest interesting input; the original if no smaller one is.
        before: the size of the original, in ``unit``.
        after: the size of the reduced input.
        unit: "operations" or "lines".
        trials: the number of inputs that were tried.
        ended: why the reduction stopped early: "interrupt" or "time"; else empty.
    """

    path: Path
    before: int
    after: int
    unit: str
    trials: int
    ended: str = ""


class Reducible(Protocol):
    """A text from which parts can be removed. Parts are of several kinds, numbered from 0.

    Attributes:
        unit: what ``size`` counts.
        kinds: the number of kinds; larger parts come first.
        text: the whole text.
    """

    unit: str
    kinds: int
    size: int
    text: str

    def count(self, kind: int) -> int:
        """Return the number of parts of a kind."""
        ...

    def without(self, kind: int, parts: Sequence[int]) -> str | None:
        """Return the text without some parts of a kind; None if the rest would be invalid."""
        ...

    def reparse(self, text: str) -> Reducible | None:
        """Parse a text that ``without`` returned."""
        ...


def reduce_input(
    path: Path,
    is_interesting: IsInteresting,
    progress: Callable[[str], None] | None = None,
    *,
    directory: Path,
    seconds: float | None = None,
) -> Reduced:
    """Reduce an input that is interesting.

    Args:
        path: the input; it is not changed.
        is_interesting: the predicate over smaller inputs, files in ``directory``.
        progress: called with a line for each smaller interesting input.
        directory: for the smaller inputs; the smallest is kept there.
        seconds: the time limit; None for no limit.

    Returns:
        The reduced input. A KeyboardInterrupt ends the search and returns the smallest so far.

    Raises:
        UsageError: the input cannot be read.
        FileNotWritten: a smaller input cannot be written.
    """
    try:
        source = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"The input {str(path)!r} cannot be read ({error.strerror}): check the path."
        ) from error
    search = _Search(path, is_interesting, progress, directory, seconds)
    try:
        search.run(source)
    except _TimedOut:
        return search.result("time")
    except KeyboardInterrupt:
        return search.result("interrupt")
    return search.result("")


class _TimedOut(Exception):
    """The time limit is over."""


class _Search:
    def __init__(
        self,
        path: Path,
        is_interesting: IsInteresting,
        progress: Callable[[str], None] | None,
        directory: Path,
        seconds: float | None,
    ) -> None:
        self._path, self._directory = path, directory
        self._is_interesting, self._progress = is_interesting, progress
        self._end = None if seconds is None else time.monotonic() + seconds
        self._verdicts: dict[bytes, bool] = {}  # by a digest of the text
        self._best: Path | None = None
        self._unit, self._before, self._after = "operations", 0, 0

    def run(self, source: bytes) -> None:
        """Reduce by the modules of a split input, then by operations or lines."""
        text = source.decode("utf-8", errors="replace")
        chunks = Chunks(text)
        if chunks.size > 1:
            text = self._reduce(chunks).text
            source = text.encode()
        operations = read_operations(source)
        if operations is not None and self._accepts(operations.text):
            self._measure(operations)
            self._reduce(operations)
        elif "\0" not in text:
            self._measure(Lines(text))
            self._reduce(Lines(text))

    def result(self, ended: str) -> Reduced:
        return Reduced(
            path=self._best or self._path,
            before=self._before,
            after=self._after,
            unit=self._unit,
            trials=len(self._verdicts),
            ended=ended,
        )

    def _measure(self, reducible: Reducible) -> None:
        self._unit, self._before, self._after = reducible.unit, reducible.size, reducible.size

    def _reduce(self, reducible: Reducible) -> Reducible:
        """Remove parts until no single part can be removed."""
        smaller = True
        while smaller:
            smaller = False
            for kind in range(reducible.kinds):
                rest = self._reduce_by(reducible, kind)
                if rest is not None:
                    reducible, smaller = rest, True
        return reducible

    def _reduce_by(self, reducible: Reducible, kind: int) -> Reducible | None:
        """Remove chunks of parts from the end, because users come after what they use.

        Returns:
            The rest, or None if nothing could be removed.
        """
        left, removed = list(range(reducible.count(kind))), list[int]()
        found: str | None = None
        size = len(left)
        while size:
            for end in range(len(left), 0, -size):
                chunk = left[max(end - size, 0) : end]
                text = reducible.without(kind, sorted([*removed, *chunk]))
                if text is not None and text != reducible.text and self._accepts(text):
                    del left[max(end - size, 0) : end]
                    removed += chunk
                    found = text
                    self._report(reducible.reparse(text))
            size //= 2
        return None if found is None else reducible.reparse(found)

    def _report(self, smaller: Reducible | None) -> None:
        if smaller is None or smaller.unit != self._unit:
            return
        self._after = smaller.size
        if self._progress is not None:
            self._progress(
                f"{self._after} of {self._before} {self._unit} are left, "
                f"{counted(len(self._verdicts), 'input')} tried"
            )

    def _accepts(self, text: str) -> bool:
        """Return whether a text is interesting, and keep its file if it is."""
        key = hashlib.sha256(text.encode()).digest()
        if key in self._verdicts:
            return self._verdicts[key]
        if self._end is not None and time.monotonic() >= self._end:
            raise _TimedOut
        candidate = self._directory / f"candidate{self._path.suffix}"
        kept = self._directory / f"reduced{self._path.suffix}"
        try:
            candidate.write_text(text, encoding="utf-8")
            self._verdicts[key] = self._is_interesting(candidate)
            if self._verdicts[key]:
                os.replace(candidate, kept)
                self._best = kept
        except OSError as error:
            raise FileNotWritten(
                f"The smaller input cannot be written to {str(candidate)!r} ({error.strerror}): "
                "is there room left on the disk?"
            ) from error
        finally:
            candidate.unlink(missing_ok=True)
        return self._verdicts[key]


# --- parts of a text ---


class Chunks:
    """The modules of an input for --split-input-file.

    Source: mlir/include/mlir/Support/ToolUtilities.h.
    """

    unit = "modules"
    kinds = 1

    def __init__(self, text: str) -> None:
        self._chunks = re.split(rf"(?m)^{_SEPARATOR}.*\n", text)
        self.size = len(self._chunks)
        self.text = f"{_SEPARATOR}\n".join(self._chunks)

    def count(self, kind: int) -> int:
        return self.size

    def without(self, kind: int, parts: Sequence[int]) -> str | None:
        removed = set(parts)
        left = [chunk for at, chunk in enumerate(self._chunks) if at not in removed]
        return f"{_SEPARATOR}\n".join(left) if left else None

    def reparse(self, text: str) -> Chunks:
        return Chunks(text)


class Lines:
    """Lines, and blocks from a line that opens a brace to the line that closes it.

    The kinds of parts: blocks; lines; the first and the last line of a block.
    """

    unit = "lines"
    kinds = 3

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)
        self._blocks = list(_blocks(self._lines))
        self.size = len(self._lines)
        self.text = text

    def count(self, kind: int) -> int:
        return len(self._lines if kind == 1 else self._blocks)

    def without(self, kind: int, parts: Sequence[int]) -> str | None:
        removed = set(parts)
        if kind == 0:
            removed = {line for part in parts for line in self._blocks[part]}
        elif kind == 2:
            removed = {
                line
                for part in parts
                for line in self._blocks[part][:: len(self._blocks[part]) - 1]
            }
        left = [line for at, line in enumerate(self._lines) if at not in removed]
        return "".join(left) if any(line.strip() for line in left) else None

    def reparse(self, text: str) -> Lines:
        return Lines(text)


def _blocks(lines: Sequence[str]) -> Iterable[range]:
    """Yield the blocks, inner ones first."""
    opened: list[int] = []
    for at, line in enumerate(lines):
        for character in _STRING.sub("", line):
            if character == "{":
                opened.append(at)
            elif character == "}" and opened:
                start = opened.pop()
                if start < at:
                    yield range(start, at + 1)
