"""The output of ``perf script``.

A sample is a line with an address, ``7f03 name+0x1f (program)``, or with call chains several of
them and then an empty line. What comes before the address, such as the command, the time, the
period and the event, depends on the fields that the user chose; ``-F +srcline`` adds a line
``  file:line`` after each address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from actiondbg.lineage.performance.profiles.profile import Entry, Frame, Profile, summed

# The period, then the name of the event, such as cpu-clock:u or cycles:P.
_EVENT = re.compile(r"(?:^|\s)(?:(\d{1,18})\s+)?([A-Za-z][\w./=-]*(?::[A-Za-z]+)?):(?=\s|$)")
# A number before the address is a period without its event.
_ADDRESS = re.compile(r"^\s*(?:\d+\s+(?=[0-9a-f]+\s+[^\s(]))?[0-9a-f]{2,16}\s+(\S.*)$")
_OFFSET = re.compile(r"\+0x[0-9a-f]+$")
_PROGRAM = re.compile(r"\s+\([^()]*\)$")
_LINE = re.compile(r"^\s+(\S.*?):(\d{1,9})(?:\s+\(.*\))?$")
_NANOSECONDS = ("cpu-clock", "task-clock")  # events whose period is a time
_HEAD = 50  # lines that show whether a file is such an output


class _Sample(NamedTuple):
    frames: list[Frame]
    period: int
    event: str


def is_perf_script(text: str) -> bool:
    """Whether the beginning of a file looks like the output of perf script."""
    head = text[:10_000].splitlines()[:_HEAD]
    return any(_frame_of(_after_event(line)[0]) is not None for line in head)


def read_perf_script(text: str) -> Profile:
    """Read the output of ``perf script``; without periods each sample counts 1.

    If several events were sampled, the first one is used.
    """
    lines = [line for line in text.strip("\n").splitlines() if not line.startswith("#")]
    samples = list(_chains(lines) if "" in lines else _single(lines))
    event = next((sample.event for sample in samples if sample.event), "")
    used = [sample for sample in samples if sample.event == event]
    name = event.partition(":")[0]
    is_weighted = bool(name) and all(sample.period for sample in used)
    unit = "samples" if not is_weighted else "ns" if name in _NANOSECONDS else name
    entries = (
        Entry(float(sample.period) if is_weighted else 1.0, tuple(sample.frames)) for sample in used
    )
    return Profile("perf script", unit, summed(entries))


def _chains(lines: Iterable[str]) -> Iterator[_Sample]:
    """Iterate over samples with call chains, which end with an empty line."""
    block: list[str] = []
    for line in (*lines, ""):
        if line.strip():
            block.append(line)
            continue
        # The event precedes the first address, mostly on a line of its own.
        rest, period, event = _after_event(block[0]) if block else ("", 0, "")
        frames = list(_frames([rest, *block[1:]]))
        if frames:
            yield _Sample(frames, period, event)
        block = []


def _single(lines: Iterable[str]) -> Iterator[_Sample]:
    """Iterate over samples of one address each."""
    kept: _Sample | None = None
    for line in lines:
        rest, period, event = _after_event(line)
        frame = _frame_of(rest)
        if frame is not None:
            if kept is not None:
                yield kept
            kept = _Sample([frame], period, event)
        elif kept is not None:
            kept = kept._replace(frames=[_with_line(kept.frames[0], line)])
    if kept is not None:
        yield kept


def _frames(lines: Iterable[str]) -> Iterator[Frame]:
    kept: Frame | None = None
    for line in lines:
        frame = _frame_of(line)
        if frame is None:
            kept = None if kept is None else _with_line(kept, line)
            continue
        if kept is not None:
            yield kept
        kept = frame
    if kept is not None:
        yield kept


def _with_line(frame: Frame, line: str) -> Frame:
    found = _LINE.match(line)
    return Frame(frame.function, found[1], int(found[2])) if found else frame


def _after_event(line: str) -> tuple[str, int, str]:
    """Return what follows the event of a line, the period and the event; without one, the line."""
    found = _EVENT.search(line)
    if found is None:
        return line, 0, ""
    return line[found.end() :], int(found[1] or 0), found[2]


def _frame_of(text: str) -> Frame | None:
    found = _ADDRESS.match(text)
    if found is None:
        return None
    name = _OFFSET.sub("", _PROGRAM.sub("", found[1]).strip())
    return Frame("" if name == "[unknown]" else name)
