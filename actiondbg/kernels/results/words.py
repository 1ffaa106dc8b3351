"""The words of reports: times, rates and shares as text, and what the kernels of a model weigh."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor, isfinite, log10

from actiondbg.kernels.results.entry import Entry
from actiondbg.support.counts import counted

_NOT_PROFILED = "Not profiled"
_RATES = ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"))
TITLE = "Shares of the model"
_COUNT = "count"


def milliseconds(seconds: float) -> str:
    """Return a time in milliseconds with four digits, without the unit."""
    return digits(seconds * 1e3, 4)


def digits(value: float, count: int = 3) -> str:
    """Return a number with so many significant digits, without an exponent."""
    if not value or not isfinite(value):
        return f"{value:g}"
    rounded = float(f"{value:.{count}g}")
    decimals = count - 1 - floor(log10(abs(rounded)))
    return f"{rounded:.{max(0, decimals)}f}"


def bandwidth(bytes_per_second: float) -> str:
    """Return a rate, such as ``12.5 GB/s``."""
    for size, unit in _RATES:
        if bytes_per_second >= size:
            return f"{digits(bytes_per_second / size)} {unit}"
    return f"{digits(bytes_per_second / 1e3)} kB/s"


_LARGE_COUNT = 100  # from which on a count has no fraction
_SMALL_SHARE = 0.1  # per cent of a time that is not worth digits
_SLICES = "split_k_slices"


# The lines of the description of a dispatch: what each is about, with the words.
Facts = dict[str, str]


def original_facts(entry: Entry) -> Facts:
    """Return what the dispatch profiler reports of a dispatch, in its order."""
    given = dict(entry.arguments)
    if _SLICES in entry.parameters:  # an argument of the dispatch profiler
        given[_SLICES] = entry.parameters[_SLICES]
    arguments = " ".join(f"--{name}={value}" for name, value in given.items())
    least, gflops = entry.least, entry.gflops
    return {
        "Dispatch": entry.dispatch,
        "Provider": entry.provider,
        "OpKind": entry.kind,
        "Operation": entry.operation,
        "Configuration": entry.configuration,
        "Arguments": arguments,
        "Verification": entry.verification.verdict,
        "Runtime(ms)": _NOT_PROFILED if least is None else milliseconds(least),
        "GFLOPs": _NOT_PROFILED if gflops is None else f"{gflops:.2f}",
    }


def further_facts(entry: Entry) -> Facts:
    """Return what else there is to report of a dispatch; nothing that is as expected."""
    moved = ""
    if entry.bandwidth is not None and entry.intensity is not None:
        moved = (
            f"{bandwidth(entry.bandwidth)} at least; {digits(entry.intensity)} operations a byte"
        )
    folder = f" (see {entry.culprit_folder})" if entry.culprit_folder else ""
    of_the_peak = ""
    if entry.percent_of_peak and entry.peak_gflops is not None:
        of_the_peak = f"{digits(entry.percent_of_peak)} % of {digits(entry.peak_gflops)} GFLOP/s"
        if entry.roof is not None and entry.roof < entry.peak_gflops:
            of_the_peak += f"; {digits(entry.percent_of_roof or 0)} % of the {digits(entry.roof)} "
            of_the_peak += "GFLOP/s that the bandwidth allows"
    facts = {
        "Range(ms)": _range(entry),
        "Call(ms)": _call(entry),
        "Events": events_of(entry),
        "Bandwidth": moved,
        "Of the peak": of_the_peak,
        "Configured": applied(entry),
        "Wrong": wrong(entry),
        "Detail": entry.verification.detail or entry.compilation.error,
        "Culprit": f"{entry.culprit}{folder}",
    }
    return {name: text for name, text in facts.items() if text}


def full_facts(entry: Entry) -> Facts:
    """Return all that there is to report of a dispatch, below its name."""
    facts = {**original_facts(entry), **further_facts(entry)}
    return {name: text for name, text in facts.items() if text and name != "Dispatch"}


def applied(entry: Entry) -> str:
    """Return that the compiler ignored the configuration, or ""."""
    if entry.compilation.config_applied != "no":
        return ""
    return f"no: {entry.compilation.detail or 'the compiler ignored the configuration.'}"


def wrong(entry: Entry) -> str:
    """Return how many elements are wrong, or ""."""
    verification = entry.verification
    if not verification.wrong:
        return ""
    method = f" ({verification.method})" if verification.method else ""
    return f"{verification.wrong:,} of {verification.total:,} elements{method}"


def _range(entry: Entry) -> str:
    if entry.least is None or entry.middle is None:
        return ""
    count = len(entry.seconds)
    text = f"{milliseconds(entry.least)} to {milliseconds(max(entry.seconds))}"
    text += f", median {milliseconds(entry.middle)}, in {counted(count, 'repetition')}"
    if entry.confirmed is not None:
        text += f"; measured again: {milliseconds(entry.confirmed)}"
    if entry.switches:
        text += f"; {counted(entry.switches, 'context switch')}"
    return text


def _call(entry: Entry) -> str:
    if entry.call_seconds is None or entry.percent_of_call is None:
        return ""
    percent = entry.percent_of_call
    share = digits(percent, 2) if percent >= _SMALL_SHARE else f"less than {_SMALL_SHARE:g}"
    return f"{digits(entry.call_seconds * 1e3, 2)}, {share} % of the time: a call that does nothing"


def events_of(entry: Entry) -> str:
    """Return the events of one call, or ""."""
    return ", ".join(f"{name} {_count(count)}" for name, count in entry.counts.items())


def _count(count: float) -> str:
    return f"{count:,.0f}" if count >= _LARGE_COUNT else digits(count)


def summary_of(entries: Sequence[Entry]) -> str:
    """Return how many dispatches there are, and how many ended how, in one sentence."""
    verdicts = Counter(entry.verification.verdict for entry in entries)
    words: dict[str, str] = {"SUCCESS": "right", "FAILED": "wrong"}
    counts = [f"{count:,} {words.get(each, each.lower())}" for each, count in verdicts.items()]
    return f"{counted(len(entries), 'dispatch')}{': ' if counts else ''}{', '.join(counts)}."


def notes(entry: Entry) -> str:
    """Return what is not as expected of a dispatch, in a line."""
    marks = [
        f"culprit {entry.culprit}" if entry.culprit else "",
        f"{entry.verification.wrong:,} wrong" if entry.verification.wrong else "",
        "configuration not applied" if entry.compilation.config_applied == "no" else "",
        "confirmed" if entry.confirmed is not None else "",
        "context switches" if entry.is_disturbed else "",
        events_of(entry),
        "" if entry.verification.wrong else entry.verification.detail or entry.compilation.error,
    ]
    return "; ".join(mark for mark in marks if mark)


@dataclass(frozen=True)
class Weight:
    """An operation of a model.

    Attributes:
        entry: its fastest kernel that is not wrong.
        count: how often the model has it.
        share: of all operations' time, in per cent.
    """

    entry: Entry
    count: int
    share: float = 0.0

    @property
    def seconds(self) -> float:
        return self.count * (self.entry.least or 0.0)


@dataclass(frozen=True)
class ModelWeights:
    """The operations of a model by their weight.

    Attributes:
        weights: the heaviest first; empty if the entries are not of a model, or have no times.
        missing: how many operations have no such kernel with a time.
    """

    weights: tuple[Weight, ...]
    missing: int

    @property
    def summary(self) -> str:
        total = sum(each.seconds for each in self.weights)
        text = (
            f"The fastest kernel of each operation that is not wrong, as often as the model has "
            f"it: {milliseconds(total)} ms in all, calls included."
        )
        if not self.missing:
            return text
        return f"{text} {counted(self.missing, 'operation')} without a time is left out."


def model_weights(entries: Sequence[Entry]) -> ModelWeights:
    """Return the operations of a model by their weight, each with its fastest kernel."""
    best: dict[str, Entry | None] = {}
    for entry in entries:
        if not entry.arguments.get(_COUNT, "").isdecimal():
            continue
        old = best.setdefault(entry.operation, None)
        is_usable = entry.least is not None and not entry.is_wrong and not entry.is_above_peak
        if is_usable and (old is None or (entry.least or 0.0) < (old.least or 0.0)):
            best[entry.operation] = entry
    found = [
        Weight(each, int(each.arguments[_COUNT])) for each in best.values() if each is not None
    ]
    total = sum(each.seconds for each in found)
    weights = [replace(each, share=100 * each.seconds / total) if total else each for each in found]
    weights.sort(key=lambda each: each.seconds, reverse=True)
    return ModelWeights(tuple(weights), len(best) - len(found) if found else 0)
