"""Named events of the CPU at hand: from the kernel's sysfs, and from a table of AMD's and Intel's.

An event of a CPU is a sum of terms such as ``event=0x44,umask=0xff``. The kernel describes in
``format`` which bits of ``perf_event_attr.config`` a term sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

_TABLE = Path(__file__).parent / "data" / "cpu_events.tsv"
_DEVICES = Path("/sys/bus/event_source/devices")
_CPUINFO = Path("/proc/cpuinfo")
_PMUS = ("cpu", "cpu_core")  # the second of CPUs with two kinds of cores
_RAW = 4  # PERF_TYPE_RAW
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
    """The counters of a CPU.

    Args:
        type: the type of their events.
        formats: the bits of each term, such as ``config:0-7,32-35``.
        events: the terms of the events that the kernel names.
        present: whether the machine has counters.
    """

    type: int
    formats: Mapping[str, str]
    events: Mapping[str, str]
    present: bool

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
