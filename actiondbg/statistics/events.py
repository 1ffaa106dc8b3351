"""Countable events: names, codes of perf_event_open(2), and those of the CPU at hand."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from actiondbg.errors import UsageError
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


class CountableEvent(NamedTuple):
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

    def without_kernel(self) -> CountableEvent | None:
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


def _known() -> dict[str, CountableEvent]:
    hardware = ("cycles", "instructions", "cache-references", "cache-misses", "branches")
    hardware += ("branch-misses", "bus-cycles", "stalled-cycles-frontend")
    hardware += ("stalled-cycles-backend", "ref-cycles")
    software = ("cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations")
    software += ("minor-faults", "major-faults", "alignment-faults", "emulation-faults")
    events = [
        *(CountableEvent(name, "hardware", _HARDWARE, code) for code, name in enumerate(hardware)),
        *(CountableEvent(name, "software", _SOFTWARE, code) for code, name in enumerate(software)),
        *(CountableEvent(name, "cache", _CACHE, code) for name, code in _cache_events().items()),
    ]
    return {event.name: event for event in events}


# In the order of enum perf_hw_id, perf_sw_ids and perf_hw_cache_id (linux/perf_event.h).
KNOWN = _known()


def listed_events() -> list[CountableEvent]:
    """Return the events to list: the kernel's, and the CPU's if there are counters for them."""
    own = [_of_cpu(name) for name in cpu_events()] if has_counters() else []
    return [*KNOWN.values(), *(event for event in own if event and event.name not in KNOWN)]


def aliases() -> list[CountableEvent]:
    """Return events under their other names."""
    return [KNOWN[name]._replace(name=alias) for alias, name in _ALIASES.items()]


def parse_events(names: Iterable[str], lister: str = "actiondbg stat") -> list[CountableEvent]:
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


def _event(text: str, lister: str) -> CountableEvent:
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


def _of_cpu(name: str) -> CountableEvent | None:
    code = cpu_events().get(name)
    return CountableEvent(name, "cpu", code.type, code.config) if code else None


def _raw(name: str) -> CountableEvent | None:
    match = _RAW_NAME.fullmatch(name)
    return CountableEvent(name, "raw", _RAW, int(match[1], 16)) if match else None


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


_TABLE = Path(__file__).parent / "data" / "cpu_events.tsv"
_DEVICES = Path("/sys/bus/event_source/devices")
_CPUINFO = Path("/proc/cpuinfo")
_PMUS = ("cpu", "cpu_core")  # the second of CPUs with two kinds of cores
# Where x86 has the terms, if the kernel does not describe them.
_X86 = {
    "event": "config:0-7,32-35",
    "umask": "config:8-15",
    "edge": "config:18",
    "any": "config:21",
    "inv": "config:23",
    "cmask": "config:24-31",
}
_ATTRIBUTES = (".unit", ".scale", ".snapshot", ".per-pkg")  # of events, not events
_BITS = re.compile(r"(\d+)(?:-(\d+))?")


class Cpu(NamedTuple):
    """The identity of a CPU, as in ``/proc/cpuinfo``."""

    vendor: str
    family: int
    model: int
    stepping: int


class Code(NamedTuple):
    """The fields of ``perf_event_attr``."""

    type: int
    config: int


class Pmu(NamedTuple):
    """The counters of a CPU."""

    type: int  # the type of their events
    formats: Mapping[str, str]  # the bits of each term, such as ``config:0-7,32-35``
    events: Mapping[str, str]  # the terms of the events that the kernel names
    present: bool  # whether the machine has counters

    def code(self, terms: str) -> Code | None:
        """Return the code of an event; None if a term is unknown or needs another register."""
        config = 0
        for term in terms.split(","):
            name, _, text = term.partition("=")
            bits = self.formats.get(name)
            value = _number(text or "1")
            placed = None if bits is None or value is None else _placed(bits, value)
            if placed is None:
                return None
            config |= placed
        return Code(self.type, config)


@lru_cache(maxsize=1)
def cpu_events() -> dict[str, Code]:
    """Return the named events of this machine's CPU; the kernel's names first."""
    return events_of(read_pmu(), read_cpu())


@lru_cache(maxsize=1)
def has_counters() -> bool:
    """Whether this machine has hardware counters."""
    return read_pmu().present


def events_of(pmu: Pmu, cpu: Cpu | None) -> dict[str, Code]:
    """Return the named events of a CPU by its counters and its identity, if that is known."""
    named = dict(pmu.events)
    own = _names_of(cpu) if cpu is not None else set[str]()
    for name, terms, cpus in _rows():
        if cpus & own:
            named.setdefault(name, terms)
    codes = ((name, pmu.code(terms)) for name, terms in named.items())
    return {name: code for name, code in codes if code is not None}


def cpus_with(event: str) -> list[str]:
    """Return the names of the CPUs of the table that have an event."""
    return sorted({cpu for name, _, cpus in _rows() if name == event for cpu in cpus})


def read_pmu(devices: Path = _DEVICES) -> Pmu:
    """Read the description of the CPU's counters from a folder in sysfs."""
    folder = next((devices / name for name in _PMUS if (devices / name).is_dir()), None)
    if folder is None:
        return Pmu(_RAW, _X86, {}, present=False)
    events = {
        name: terms
        for name, terms in _files(folder / "events").items()
        if not name.endswith(_ATTRIBUTES)
    }
    number = _number(_text(folder / "type"))
    return Pmu(
        _RAW if number is None else number, _files(folder / "format") or _X86, events, present=True
    )


def read_cpu(cpuinfo: Path = _CPUINFO) -> Cpu | None:
    """Read the identity of the first CPU; None if the file does not have it."""
    found = dict(re.findall(r"^([a-z_ ]+?)\s*: (\S+)", _text(cpuinfo), re.MULTILINE)[::-1])
    numbers = [_number(found.get(key, "")) for key in ("cpu family", "model", "stepping")]
    family, model, stepping = numbers
    if "vendor_id" not in found or family is None or model is None:
        return None
    return Cpu(found["vendor_id"], family, model, stepping or 0)


def _files(folder: Path) -> dict[str, str]:
    """Return the contents of the files of a folder, by name."""
    if not folder.is_dir():
        return {}
    return {path.name: _text(path).strip() for path in sorted(folder.iterdir())}


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _number(text: str) -> int | None:
    try:
        return int(text.strip(), 0)
    except ValueError:
        return None


def _placed(bits: str, value: int) -> int | None:
    """Return a value at its bits of config; None if it does not fit, or is elsewhere."""
    word, _, ranges = bits.partition(":")
    if word != "config" or value < 0:
        return None
    config = 0
    for first, last in _BITS.findall(ranges):
        width = int(last or first) - int(first) + 1
        config |= (value & ((1 << width) - 1)) << int(first)
        value >>= width
    return None if value else config


# --- the table --------------------------------------------------------------------


@lru_cache(maxsize=1)
def _lines() -> list[list[str]]:
    lines = _TABLE.read_text().splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def _rows() -> Iterator[tuple[str, str, set[str]]]:
    """Yield the name of each event, its terms and its CPUs."""
    for line in _lines():
        if line[0] != "cpu":
            name, terms, cpus = line
            yield name, terms, set(cpus.split())


def _names_of(cpu: Cpu) -> set[str]:
    """Return the names of a CPU in the table."""
    names: set[str] = set()
    for line in _lines():
        if line[0] != "cpu":
            continue
        _, name, vendor, family, models, steppings = line
        same = vendor == cpu.vendor and int(family) == cpu.family
        if same and _is_within(cpu.model, models) and _is_within(cpu.stepping, steppings):
            names.add(name)
    return names


def _is_within(number: int, ranges: str) -> bool:
    """Whether a number is in ranges such as ``00-0f,20``, in hexadecimal."""
    for one in ranges.split(","):
        first, _, last = one.partition("-")
        if int(first, 16) <= number <= int(last or first, 16):
            return True
    return False
