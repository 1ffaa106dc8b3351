"""Races between the iterations of a parallel loop."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, SupportsIndex

from actiondbg.validation.domain import OpenRace, Race, Scalar
from actiondbg.validation.machine import Machine, MemRef

_SEVERAL = -1


@dataclass(slots=True)
class Iterations:
    """What the iterations of a parallel loop accessed, by place: the iteration, or several."""

    name: str
    current: int = 0  # the number of the iteration that runs
    is_quiet: bool = False  # accesses are atomic now
    readers: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    writers: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])

    def reads(self, place: tuple[int, int]) -> None:
        """Note that an iteration reads.

        Raises:
            Race: another one has written there, in ``scf.parallel``.
            OpenRace: likewise, in another loop.
        """
        if self.is_quiet:
            return
        if self.writers.get(place, self.current) != self.current:
            self._fail()
        if self.readers.setdefault(place, self.current) != self.current:
            self.readers[place] = _SEVERAL

    def writes(self, place: tuple[int, int]) -> None:
        """Note that an iteration writes, and fail if another one reads or writes there."""
        if self.is_quiet:
            return
        for others in (self.writers, self.readers):
            if others.get(place, self.current) != self.current:
                self._fail()
        self.writers[place] = self.current

    def _fail(self) -> None:
        problem = f"iterations of {self.name} race for memory"
        # Only that loop's documentation says what a race means.
        raise (Race if self.name == "scf.parallel" else OpenRace)(problem)


class _Watched(list[Scalar]):
    """Items of a buffer that tell the loops around which of them are accessed."""

    __slots__ = ("_loops",)

    def __init__(self, items: list[Scalar], loops: list[Iterations]) -> None:
        super().__init__(items)
        self._loops = loops

    def __getitem__(self, at: Any) -> Any:
        for place in self._places(at):
            for loop in self._loops:
                loop.reads((id(self), place))
        return super().__getitem__(at)

    def __setitem__(self, at: Any, value: Any) -> None:
        for place in self._places(at):
            for loop in self._loops:
                loop.writes((id(self), place))
        super().__setitem__(at, value)

    def __iter__(self) -> Iterator[Scalar]:
        return iter(self[:])

    def _places(self, at: SupportsIndex | slice) -> range:
        if isinstance(at, slice):
            return range(*at.indices(len(self)))
        first = at.__index__()
        return range(first, first + 1)

    def plain(self) -> list[Scalar]:
        return super().__getitem__(slice(None))


@contextmanager
def iterations(machine: Machine, name: str) -> Generator[Iterations]:
    """Watch the memory that a parallel loop finds, while it runs."""
    loop = Iterations(name)
    machine.parallel.append(loop)
    found = [
        *machine.frame.values(),
        *(MemRef(each, 0, (), ()) for each in machine.globals.values()),
    ]
    buffers = {each.buffer: None for each in found if isinstance(each, MemRef)}
    # An outer loop watches what it found.
    mine = [each for each in buffers if not isinstance(each.items, _Watched)]
    for buffer in mine:
        machine.charge(len(buffer.items))
        buffer.items = _Watched(buffer.items, machine.parallel)
    try:
        yield loop
    finally:
        machine.parallel.pop()
        for buffer in mine:
            assert isinstance(buffer.items, _Watched)
            buffer.items = buffer.items.plain()


@contextmanager
def atomic(machine: Machine) -> Generator[None]:
    """Let accesses be no races."""
    before = [loop.is_quiet for loop in machine.parallel]
    for loop in machine.parallel:
        loop.is_quiet = True
    yield
    for loop, is_quiet in zip(machine.parallel, before, strict=True):
        loop.is_quiet = is_quiet
