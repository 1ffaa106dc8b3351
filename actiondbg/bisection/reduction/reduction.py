"""Make an input small, by a predicate over files; nothing here knows what makes one interesting.

Operations are left out by the Python bindings of MLIR, which keep the module valid, so that few
trials are lost. An input that the bindings do not read (other dialects, Fortran) is reduced by its
lines. mlir-reduce is not used: it leaves out direct children of the module only, and its test
cannot be a predicate of ours.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from actiondbg.bisection.reduction.operations import read_operations
from actiondbg.bisection.reduction.text import Chunks, Lines
from actiondbg.errors import FileNotWritten, UsageError

IsInteresting = Callable[[Path], bool]


@dataclass(frozen=True)
class Reduced:
    """An input that was made small.

    Args:
        path: the smallest that is interesting; the input itself if there is no smaller one.
        before: how large the input was, in ``unit``.
        after: how large it is now.
        unit: "operations" or "lines".
        trials: how many inputs were tried.
        ended: why it was not gone on with: "interrupt" or "time"; empty when nothing more can be
            left out.
    """

    path: Path
    before: int
    after: int
    unit: str
    trials: int
    ended: str = ""


class Reducible(Protocol):
    """A text of which units can be left out, in several ways.

    Attributes:
        unit: what ``size`` counts.
        ways: how many ways there are; those come first that leave out much at once.
    """

    unit: str
    ways: int

    @property
    def size(self) -> int:
        """How large it is."""
        ...

    @property
    def text(self) -> str:
        """All of it."""
        ...

    def count(self, way: int) -> int:
        """Return how many units there are of a way, from 0."""
        ...

    def without(self, way: int, units: Sequence[int]) -> str | None:
        """Return the text without some units; None if nothing valid would be left."""
        ...

    def again(self, text: str) -> Reducible | None:
        """Read a text that ``without`` returned."""
        ...


def reduce_input(
    path: Path,
    is_interesting: IsInteresting,
    progress: Callable[[str], None] | None = None,
    *,
    directory: Path,
    seconds: float | None = None,
) -> Reduced:
    """Make an input small that stays interesting.

    Args:
        path: the input, which is interesting, and is not touched.
        is_interesting: whether a smaller one, a file in ``directory``, still is.
        progress: called with a line when a smaller one was found.
        directory: where smaller ones are written; the smallest stays there.
        seconds: after which no other trial is begun; None for no limit.

    Returns:
        The smallest. A KeyboardInterrupt ends the search, and what was reached is returned.

    Raises:
        UsageError: the input cannot be read.
        FileNotWritten: a smaller one cannot be written.
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
    except _TimeUp:
        return search.result("time")
    except KeyboardInterrupt:
        return search.result("interrupt")
    return search.result("")


class _TimeUp(Exception):
    """The time that the search may take is over."""


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
        """Reduce by the coarsest units first."""
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

    def _measure(self, whole: Reducible) -> None:
        self._unit, self._before, self._after = whole.unit, whole.size, whole.size

    def _reduce(self, whole: Reducible) -> Reducible:
        """Leave out units until no single one can be spared."""
        smaller = True
        while smaller:
            smaller = False
            for way in range(whole.ways):
                less = self._reduce_by(whole, way)
                if less is not None:
                    whole, smaller = less, True
        return whole

    def _reduce_by(self, whole: Reducible, way: int) -> Reducible | None:
        """Leave out chunks of units, from the end, as what is used stands before its users.

        Returns:
            What is left, or None if nothing could be left out.
        """
        left, out = list(range(whole.count(way))), list[int]()
        found: str | None = None
        size = len(left)
        while size:
            for end in range(len(left), 0, -size):
                chunk = left[max(end - size, 0) : end]
                text = whole.without(way, sorted([*out, *chunk]))
                if text is not None and text != whole.text and self._accepts(text):
                    del left[max(end - size, 0) : end]
                    out += chunk
                    found = text
                    self._tell(whole.again(text))
            size //= 2
        return None if found is None else whole.again(found)

    def _tell(self, smaller: Reducible | None) -> None:
        if smaller is None or smaller.unit != self._unit:
            return
        self._after = smaller.size
        if self._progress is not None:
            self._progress(
                f"{self._after} of {self._before} {self._unit} are left, "
                f"{len(self._verdicts)} inputs tried"
            )

    def _accepts(self, text: str) -> bool:
        """Whether a text is interesting; the newest that is is kept."""
        key = hashlib.sha256(text.encode()).digest()
        if key in self._verdicts:
            return self._verdicts[key]
        if self._end is not None and time.monotonic() >= self._end:
            raise _TimeUp
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
