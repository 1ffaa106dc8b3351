"""Countable events: names, and codes of perf_event_open(2)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from actiondbg.errors import UsageError
from actiondbg.statistics.cpu_events import cpu_events, cpus_with, has_counters
from actiondbg.support.counts import plural

Kind = Literal["hardware", "software", "cache", "cpu", "raw"]
NONE = "none"
DEFAULT = "default"
MOST = 16  # per run: Counters::most of the agent

_HARDWARE, _SOFTWARE, _CACHE, _RAW = 0, 1, 3, 4  # enum perf_type_id
USER_ONLY = ":u"  # suffix of a name: the kernel is excluded
_RAW_NAME = re.compile(r"r([0-9a-fA-F]{1,16})")
_CLOCKS = frozenset(("cpu-clock", "task-clock"))
# Events inside the kernel: with the kernel excluded they would always be 0.
_KERNEL_ONLY = frozenset(("context-switches", "cpu-migrations"))
_ALIASES = {
    "cpu-cycles": "cycles",
    "branch-instructions": "branches",
    "faults": "page-faults",
    "cs": "context-switches",
    "migrations": "cpu-migrations",
}


class Event(NamedTuple):
    """An event by its name in options and recordings, with the fields of ``perf_event_attr``.

    ``user_only`` excludes the kernel.
    """

    name: str
    kind: Kind
    type: int
    config: int
    user_only: bool = False

    @property
    def spec(self) -> str:
        """The agent's notation: ``NAME=TYPE:CONFIG``, with ``:u`` if the kernel is excluded."""
        return f"{self.name}={self.type}:{self.config}{USER_ONLY if self.user_only else ''}"

    def without_kernel(self) -> Event | None:
        """Return the event with the kernel excluded, or None if nothing would remain.

        As in perf the name gets a suffix, except for clocks, which count the same.
        """
        if self.name in _KERNEL_ONLY:
            return None
        name = self.name if self.name in _CLOCKS else self.name + USER_ONLY
        return self._replace(name=name, user_only=True)


def _cache_events() -> dict[str, int]:
    """Return perf's names of the cache events, and their config."""
    caches = ("L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node")
    operations = ("load", "store", "prefetch")
    written = {"L1-dcache", "LLC", "dTLB", "node"}
    found: dict[str, int] = {}
    for cache, name in enumerate(caches):
        for operation, verb in enumerate(operations):
            if operation and name not in written:
                continue
            code = cache | operation << 8
            found[f"{name}-{plural(verb)}"] = code
            found[f"{name}-{verb}-misses"] = code | 1 << 16
    return found


def _known() -> dict[str, Event]:
    hardware = ("cycles", "instructions", "cache-references", "cache-misses", "branches")
    hardware += ("branch-misses", "bus-cycles", "stalled-cycles-frontend")
    hardware += ("stalled-cycles-backend", "ref-cycles")
    software = ("cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations")
    software += ("minor-faults", "major-faults", "alignment-faults", "emulation-faults")
    events = [
        *(Event(name, "hardware", _HARDWARE, code) for code, name in enumerate(hardware)),
        *(Event(name, "software", _SOFTWARE, code) for code, name in enumerate(software)),
        *(Event(name, "cache", _CACHE, code) for name, code in _cache_events().items()),
    ]
    return {event.name: event for event in events}


# In the order of enum perf_hw_id, perf_sw_ids and perf_hw_cache_id (linux/perf_event.h).
KNOWN = _known()


def listed_events() -> list[Event]:
    """Return the events to list: the kernel's, and the CPU's if there are counters for them."""
    own = [_of_cpu(name) for name in cpu_events()] if has_counters() else []
    return [*KNOWN.values(), *(event for event in own if event and event.name not in KNOWN)]


def aliases() -> list[Event]:
    """Return events under their other names."""
    return [KNOWN[name]._replace(name=alias) for alias, name in _ALIASES.items()]


def parse_events(names: Iterable[str], lister: str = "actiondbg stat") -> list[Event]:
    """Return the events with these names, each once.

    Args:
        names: names of ``perf list``, or ``rNNN`` (hexadecimal) for a raw event; the suffix ``:u``
            excludes the kernel.
        lister: the command whose ``--list-events`` a message names.

    Raises:
        UsageError: an event is unknown, or there are too many.
    """
    events = list(dict.fromkeys(_event(name.strip(), lister) for name in names))
    if len(events) > MOST:
        raise UsageError(
            f"{len(events)} events were given, but one run counts at most {MOST}: name fewer."
        )
    return events


def is_clock(name: str) -> bool:
    """Whether an event counts nanoseconds."""
    return name.removesuffix(USER_ONLY) in _CLOCKS


def _event(text: str, lister: str) -> Event:
    name = text.removesuffix(USER_ONLY)
    event = KNOWN.get(_ALIASES.get(name, name)) or _of_cpu(name) or _raw(name)
    if event is None:
        raise UsageError(f"There is no event {text!r}{_why_not(name, lister)}.")
    if name == text:
        return event
    limited = event.without_kernel()
    if limited is None:
        raise UsageError(f"{text!r} would always be 0: the event happens only inside the kernel.")
    return limited


def _of_cpu(name: str) -> Event | None:
    code = cpu_events().get(name)
    return Event(name, "cpu", code.type, code.config) if code else None


def _raw(name: str) -> Event | None:
    match = _RAW_NAME.fullmatch(name)
    return Event(name, "raw", _RAW, int(match[1], 16)) if match else None


def _why_not(name: str, lister: str) -> str:
    """Return what to give instead of a name."""
    listed = f"'{lister} --list-events' lists this machine's events"
    others = cpus_with(name)
    if others:
        return f": it is an event of other CPUs ({', '.join(others)}); {listed}"
    known: Sequence[str] = [*KNOWN, *_ALIASES, *cpu_events()]
    close = difflib.get_close_matches(name, known, 3)
    ways = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
    return f": {ways}{listed}"
