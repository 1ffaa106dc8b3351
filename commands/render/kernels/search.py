"""The progress and the result of a search for the fastest configuration, and of a whole program."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, TextIO

from actiondbg.commands.render.tables import aligned
from actiondbg.kernels.results.entry import gflops_of
from actiondbg.kernels.results.words import digits, milliseconds
from actiondbg.kernels.search.search import SearchProgress, SearchResult, SearchTrial
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from actiondbg.kernels.search.tuning import TunedOperation, TuningResult

_MOST_WRONG = 5  # that are listed
_ENDS = {
    "budget": "the budget is used up",
    "time": "the time is used up",
    "space": "every configuration was tried",
}
_HEAD = ("share", "count", "default ms", "tuned ms", "speed-up", "operation", "configuration")
_DEFAULT = "default"


class SearchDisplay:
    """The progress on a stream: one line that is rewritten on a terminal, else a line a trial."""

    def __init__(self, err: TextIO, flops: int) -> None:
        self._err = err
        self._flops = flops
        self._is_terminal = err.isatty()

    def report(self, progress: SearchProgress) -> None:
        if self._is_terminal:
            # A line that wraps cannot be erased.
            line = progress_line(replace(progress, trial=None), self._flops)
            line = line[: shutil.get_terminal_size().columns - 1]
            print(f"\r\033[K{line}", end="", file=self._err, flush=True)
        else:
            print(progress_line(progress, self._flops), file=self._err, flush=True)

    def clear(self) -> None:
        if self._is_terminal:
            print("\r\033[K", end="", file=self._err, flush=True)


def progress_line(progress: SearchProgress, flops: int) -> str:
    of = f"/{progress.budget}" if progress.budget is not None else ""
    words = [f"{progress.tried}{of}"]
    if progress.trial is not None:
        words.append(f"{progress.trial.configuration.name}: {_outcome(progress.trial)}")
    if progress.best is not None and progress.best.seconds is not None:
        best = progress.best
        rate = f"{gflops_of(flops, progress.best.seconds):.3g} GFLOP/s"
        words.append(f"best {_milliseconds(best)} ms ({rate}) {best.configuration.name}")
    if progress.left:
        words.append(f"about {progress.left:.0f} s left")
    return "; ".join(words)


def search_text(result: SearchResult) -> str:
    operation, tried, wrong = result.operation, len(result.trials), result.wrong
    head = f"{operation.name}: {counted(tried, 'configuration')} tried"
    head += f", {len(wrong)} wrong" if wrong else ""
    lines = [f"{head}; {_ENDS[result.ended]}.", *_table(result), _conclusion(result)]
    lines += _wrong_lines(wrong)
    if result.configured is not None:
        lines.append(f"Configured: {result.configured}")
    return "\n".join([*lines, f"Log: {result.log}"])


def search_object(result: SearchResult) -> dict[str, object]:
    """Return the result with stable keys, for JSON."""
    best = result.best
    return {
        "operation": result.operation.name,
        "ended": result.ended,
        "tried": len(result.trials),
        "wrong": [each.configuration.name for each in result.wrong],
        "best": best.configuration.name if best else None,
        "parameters": dict(best.configuration.parameters) if best else None,
        "configured": str(result.configured) if result.configured else None,
        "finalists": [
            {
                "configuration": each.configuration.name,
                "origin": each.origin,
                "seconds": list(each.profile.seconds),
            }
            for each in result.finalists
        ],
        "log": str(result.log),
    }


def _table(result: SearchResult) -> list[str]:
    if not result.finalists:
        return []
    baseline = result.without_search
    rows = [("least ms", "median ms", "GFLOP/s", "speed-up", "configuration")]
    for each in result.finalists:
        times = each.profile.seconds
        gain = f"{baseline.seconds / each.seconds:.2f}" if baseline else ""
        name = each.configuration.name
        name += f" ({each.origin})" if each.origin != "found" else ""
        rate = digits(gflops_of(result.operation.flops, each.seconds))
        rows.append((milliseconds(min(times)), milliseconds(median(times)), rate, gain, name))
    return aligned(rows)


def _conclusion(result: SearchResult) -> str:
    best, baseline = result.best, result.without_search
    if best is None:
        return "No kernel is right, so there is no best configuration."
    count = len(best.profile.seconds)
    confirmed = f"confirmed by {counted(count, 'repetition')}, in turn with the others"
    if baseline is None:
        return (
            f"Best: {best.configuration.name}, {confirmed}. There is nothing to compare with: none "
            "without a search is right, or only a default without optimizations."
        )
    if best == baseline:
        name = "the default" if best.origin == "default" else best.configuration.name
        return f"Best: {name}, {confirmed}: no configuration is faster."
    if best.seconds > baseline.seconds:
        return (
            f"Best: {best.configuration.name}, {confirmed}, but {baseline.configuration.name} is "
            f"{best.seconds / baseline.seconds:.2f} times as fast."
        )
    gain = (
        "not clearly faster than"
        if not best.is_clearly_faster(baseline)
        else f"{baseline.seconds / best.seconds:.2f} times as fast as"
    )
    without = f"{gain} the fastest without a search, {baseline.configuration.name}"
    return f"Best: {best.configuration.name}, {without}; {confirmed}."


def _wrong_lines(wrong: Sequence[SearchTrial]) -> list[str]:
    lines = [
        f"Wrong: {each.configuration.name}: {_outcome(each)}"
        + (f", {each.detail}" if each.detail else "")
        for each in wrong[:_MOST_WRONG]
    ]
    if len(wrong) > _MOST_WRONG:
        lines.append(f"... and {len(wrong) - _MOST_WRONG} more in the log")
    if any(each.verdict in ("FAILED", "CRASHED") for each in wrong):
        lines.append("'actiondbg kernels bisect' finds the actions that make them wrong.")
    return lines


def _outcome(trial: SearchTrial) -> str:
    return f"{_milliseconds(trial)} ms" if trial.is_right else trial.verdict


def _milliseconds(trial: SearchTrial) -> str:
    return milliseconds(trial.seconds or 0.0)


def tuning_text(result: TuningResult) -> list[str]:
    rows = [_HEAD, *(_cells(each) for each in result.operations)]
    lines = aligned(rows, left=(5, 6)) if result.operations else []
    lines.append(
        f"Not searched: {result.untuned:.1f} %, operations below 1 %, without parameters, or that "
        "IREE compiles otherwise in the whole."
    )
    total = sum(each.seconds for each in result.weights.weights)
    lines.append(
        f"All kernels with IREE's default, as often as the model has them: {milliseconds(total)} "
        f"ms; the whole model: {milliseconds(min(result.times.default))} ms."
    )
    if result.spec is None:
        return [
            *lines,
            "No configuration is clearly faster than IREE's default: no spec is written.",
        ]
    return [*lines, *_whole(result), f"Spec: {result.spec} (--iree-codegen-tuning-spec-path)"]


def _whole(result: TuningResult) -> list[str]:
    times = result.times
    gain = f"{times.gain:.2f} times as fast"
    if not times.is_clear:
        gain = f"not clearly faster or slower ({gain})"
    elif times.gain < 1:
        gain = f"slower: {gain}"
    count = len(times.default)
    least = f"{milliseconds(min(times.tuned))} ms for {milliseconds(min(times.default))}"
    usual = f"median {milliseconds(median(times.tuned))} for {milliseconds(median(times.default))}"
    lines = [
        f"The whole model with the spec: {gain}, and faster in {times.wins} of "
        f"{counted(count, 'repetition')} in turn; {least} ({usual})."
    ]
    agreement = result.agreement
    assert agreement is not None  # there is a spec
    if not agreement.finite:
        lines.append(
            "Results were not compared: with random operands they are not finite. Each kernel was "
            "verified."
        )
    elif agreement.holds:
        lines.append(
            f"Results agree: they differ by {agreement.difference:.2g} at most, of "
            f"{agreement.largest:.2g}."
        )
    else:
        lines.append(
            f"WRONG: results differ by {agreement.difference:.2g}, of {agreement.largest:.2g}: do "
            "not use the spec."
        )
    return lines


def tuning_object(result: TuningResult) -> dict[str, object]:
    """Return the result with stable keys, for JSON."""
    agreement = result.agreement
    return {
        "operations": [
            {
                "operation": each.search.operation.name,
                "share": each.share,
                "default_s": each.default_seconds,
                "tuned_s": each.applied.seconds if each.applied else None,
                "configuration": each.applied.configuration.name if each.applied else None,
                "tried": len(each.search.trials),
            }
            for each in result.operations
        ],
        "kernels_s": sum(each.seconds for each in result.weights.weights),
        "spec": str(result.spec) if result.spec else None,
        "default_s": list(result.times.default),
        "tuned_s": list(result.times.tuned) if result.spec else None,
        "agrees": agreement.holds if agreement and agreement.finite else None,
    }


def _cells(operation: TunedOperation) -> tuple[str, ...]:
    applied = operation.applied
    default = operation.default_seconds
    return (
        f"{operation.share:.1f} %",
        str(operation.count),
        milliseconds(default) if default else "",
        milliseconds(applied.seconds) if applied else "",
        f"{default / applied.seconds:.2f}" if applied and default else "",
        operation.search.operation.name,
        applied.configuration.name if applied else _DEFAULT,
    )
