"""The event probe: tries which events can be counted, by opening them as the agent does."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import platform
import struct
from collections.abc import Callable, Iterable, Sequence
from errno import EACCES, EINVAL, ENODEV, ENOENT, ENOSYS, EOPNOTSUPP, EPERM
from pathlib import Path
from typing import NamedTuple

from actiondbg.errors import ActiondbgError
from actiondbg.statistics.events import DEFAULT, KNOWN, NONE, CountableEvent, parse_events

PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")

# System call number of perf_event_open, by `uname -m`.
_NUMBERS = {
    **{"x86_64": 298, "ppc64le": 319, "s390x": 331},
    **dict.fromkeys(("aarch64", "loongarch64", "riscv64"), 241),
}
_ATTRIBUTES = struct.Struct("=IIQQQQQIIQ")  # PERF_ATTR_SIZE_VER0
_READ_GROUP = 1 << 3
_DISABLED, _PINNED, _EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR = 1 << 0, 1 << 2, 1 << 5, 1 << 6
_CLOSE_ON_EXEC = 1 << 3
_ENABLE, _DISABLE, _RESET = 0x2400, 0x2401, 0x2403  # PERF_EVENT_IOC_*
_WHOLE_GROUP = 1  # PERF_IOC_FLAG_GROUP
_ABSENT = (ENOENT, ENODEV, EOPNOTSUPP)
_HARDWARE_DEFAULT = ("cycles", "instructions", "cache-misses", "branch-misses")
_SOFTWARE_DEFAULT = ("task-clock", "page-faults", "context-switches")
_WITHOUT = "'--events none' measures durations alone"
_CONTAINER = "in a container, start it with --security-opt seccomp=unconfined --cap-add PERFMON"
_WAYS_OUT = {
    EACCES: "run 'sysctl kernel.perf_event_paranoid={}' as root, or actiondbg with CAP_PERFMON",
    EPERM: _CONTAINER,
    ENOSYS: _CONTAINER,
}


class CountingRefused(ActiondbgError):
    """The kernel or the machine cannot count an event."""


class ProbeResult(NamedTuple):
    """The result of trying an event."""

    asked: CountableEvent
    counted: (
        CountableEvent | None
    )  # the event, or its part outside the kernel; None if it cannot be counted
    refusal: int = 0  # the errno of the first attempt, 0 for success


def choose(names: Iterable[str]) -> list[CountableEvent]:
    """Return the events to count.

    Args:
        names: event names; or only ``default``, the available events of a fixed list; or only
            ``none``.

    Raises:
        UsageError: an event is unknown.
        CountingRefused: an event cannot be counted, or not all at once.
    """
    wanted = list(names)
    if wanted == [NONE]:
        return []
    if wanted == [DEFAULT]:
        return _default()
    events = [_counted(try_event(event)) for event in parse_events(wanted)]
    _check_together(events)
    return events


def choose_available(names: Iterable[str], lister: str) -> tuple[list[CountableEvent], list[str]]:
    """Return the events that can be counted, and sentences about the others.

    If none of them can be counted, software events take their place. Raises UsageError for an
    unknown event. The sentences name ``lister --list-events``.
    """
    wanted = list(names)
    if wanted == [NONE]:
        return [], []
    if wanted == [DEFAULT]:
        return (_default(), []) if _opened(_HARDWARE_DEFAULT) else _software_events([])
    events: list[CountableEvent] = []
    notes: list[str] = []
    for event in parse_events(wanted, lister):
        tried = try_event(event)
        if tried.counted is None:
            notes.append(f"{event.name!r} is not counted: {why_refused(tried.refusal)}.")
        elif _refusal([*events, tried.counted]):
            notes.append(f"{event.name!r} is not counted: the machine has too few counters.")
        else:
            events.append(tried.counted)
    return (events, notes) if events else _software_events(notes)


def _software_events(notes: list[str]) -> tuple[list[CountableEvent], list[str]]:
    """Return software events in place of hardware events, and add a sentence why."""
    events = _opened(_SOFTWARE_DEFAULT)
    if not events:
        tried = try_event(KNOWN[_SOFTWARE_DEFAULT[0]])
        return [], [*notes, f"No events are counted: {why_refused(tried.refusal)}."]
    names = ", ".join(event.name for event in events)
    if notes:
        return events, [*notes, f"Software events are counted instead: {names}."]
    refusal = try_event(KNOWN[_HARDWARE_DEFAULT[0]]).refusal
    absent = "this machine has no counters for them, like most virtual machines"
    why = absent if refusal in _ABSENT else why_refused(refusal)
    return events, [f"Software events are counted ({names}), hardware events are not: {why}."]


def try_event(event: CountableEvent) -> ProbeResult:
    """Try to count an event; if the kernel may not be counted, try without it."""
    refusal = _refusal([event])
    if refusal == 0:
        return ProbeResult(event, event)
    limited = event.without_kernel() if refusal == EACCES and not event.user_only else None
    if limited is None or _refusal([limited]):
        return ProbeResult(event, None, refusal)
    return ProbeResult(event, limited, refusal)


def why_refused(refusal: int) -> str:
    """Return why an event cannot be counted, in a few words that name the setting."""
    if refusal in _ABSENT:
        return "this machine has no counter for it, like most virtual machines"
    if refusal == EACCES:
        return f"{PARANOID} is {_paranoid()}"
    if refusal == EPERM:
        return f"perf_event_open is refused (EPERM){_seccomp()}"
    if refusal == ENOSYS:
        return f"perf_event_open is missing (ENOSYS){_seccomp()}"
    return f"perf_event_open fails: {os.strerror(refusal)}"


# --- choosing ---------------------------------------------------------------------


def _default() -> list[CountableEvent]:
    """Return hardware events if the machine has any, else software events."""
    hardware = _opened(_HARDWARE_DEFAULT)
    events = hardware + _opened(("page-faults",) if hardware else _SOFTWARE_DEFAULT)
    if not events:
        raise CountingRefused(_sentence(try_event(KNOWN["task-clock"])))
    while _refusal(events):
        events.pop()  # too few counters
    return events


def _opened(names: Sequence[str]) -> list[CountableEvent]:
    tried = (try_event(KNOWN[name]) for name in names)
    return [one.counted for one in tried if one.counted is not None]


def _counted(tried: ProbeResult) -> CountableEvent:
    if tried.counted is None:
        raise CountingRefused(_sentence(tried))
    return tried.counted


def _check_together(events: list[CountableEvent]) -> None:
    for count in range(2, len(events) + 1):
        refusal = _refusal(events[:count])
        if refusal:
            others = ", ".join(event.name for event in events[: count - 1])
            raise CountingRefused(
                f"{events[count - 1].name!r} cannot be counted together with {others} "
                f"({os.strerror(refusal)}): the machine has too few counters, name fewer events."
            )


def _sentence(tried: ProbeResult) -> str:
    name, why = tried.asked.name, why_refused(tried.refusal)
    if tried.refusal in _ABSENT:
        return (
            f"{name!r} cannot be counted: {why}. 'actiondbg stat --list-events' lists its events."
        )
    if tried.refusal not in _WAYS_OUT:
        return f"{name!r} cannot be counted ({why}): {_WITHOUT}."
    value = 2 if tried.asked.without_kernel() else 1
    way = _WAYS_OUT[tried.refusal].format(value)
    return f"The kernel forbids counting {name!r} ({why}): {way}; {_WITHOUT}."


def _paranoid() -> str:
    try:
        return PARANOID.read_text().strip()
    except OSError:
        return "missing"


def _seccomp() -> str:
    """Return a hint at a seccomp filter, if one is active."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return ""
    return ", a seccomp filter is active" if "\nSeccomp:\t2" in status else ""


class EventGroup:
    """Events, at least one, that are counted together, in this thread; closed with the process.

    Raises:
        CountingRefused: one cannot be counted, or not together with the others.
    """

    def __init__(self, events: Sequence[CountableEvent]) -> None:
        self._descriptors: list[int] = []
        for event in events:
            leader = self._descriptors[0] if self._descriptors else -1
            descriptor = _open(event, leader)
            if descriptor < 0:
                raise CountingRefused(_sentence(ProbeResult(event, None, -descriptor)))
            self._descriptors.append(descriptor)

    def count(self, work: Callable[[], object]) -> list[int]:
        """Do some work, and return the counts of the events during that.

        Raises:
            CountingRefused: others used the counters.
        """
        leader, size = self._descriptors[0], len(self._descriptors)
        fcntl.ioctl(leader, _RESET, _WHOLE_GROUP)
        fcntl.ioctl(leader, _ENABLE, _WHOLE_GROUP)
        try:
            work()
        finally:
            fcntl.ioctl(leader, _DISABLE, _WHOLE_GROUP)
        content = os.read(leader, 8 * (1 + size))
        if len(content) < 8 * (1 + size):
            raise CountingRefused("The events could not be counted: others use the counters.")
        return list(struct.unpack(f"={1 + size}Q", content)[1:])


# --- the system call --------------------------------------------------------------


def _refusal(events: Sequence[CountableEvent]) -> int:
    """Count events briefly as one group; return the errno of a failure, or 0."""
    opened: list[int] = []
    with contextlib.ExitStack() as closing:
        for event in events:
            descriptor = _open(event, opened[0] if opened else -1)
            if descriptor < 0:
                return -descriptor
            closing.callback(os.close, descriptor)
            opened.append(descriptor)
        return _run(opened[0], len(opened))


def _run(leader: int, size: int) -> int:
    """Start a group and read it; return 0 or an errno."""
    fcntl.ioctl(leader, _ENABLE, 0)
    # Reading a pinned group without a free counter returns no bytes.
    return 0 if len(os.read(leader, 8 * (1 + size))) == 8 * (1 + size) else EINVAL


def _open(event: CountableEvent, leader: int) -> int:
    """Open an event for this thread, disabled if it leads; return a descriptor or -errno."""
    number = _NUMBERS.get(platform.machine())
    if number is None:
        return -ENOSYS
    flags = _EXCLUDE_HYPERVISOR | (_EXCLUDE_KERNEL if event.user_only else 0)
    flags |= _DISABLED | _PINNED if leader < 0 else 0
    size = _ATTRIBUTES.size
    words = (event.type, size, event.config, 0, 0, _READ_GROUP, flags, 0, 0, 0)
    attributes = ctypes.create_string_buffer(_ATTRIBUTES.pack(*words), size)
    arguments = (ctypes.byref(attributes), 0, -1, leader, ctypes.c_ulong(_CLOSE_ON_EXEC))
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor: int = libc.syscall(ctypes.c_long(number), *arguments)
    return descriptor if descriptor >= 0 else -ctypes.get_errno()
