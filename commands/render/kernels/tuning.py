"""The result of tuning a whole program."""

from __future__ import annotations

from statistics import median

from actiondbg.commands.render.tables import aligned
from actiondbg.kernels.results.words import milliseconds
from actiondbg.kernels.tuning import TunedOperation, TuningResult
from actiondbg.support.counts import counted

_HEAD = ("share", "count", "default ms", "tuned ms", "speed-up", "operation", "configuration")
_DEFAULT = "default"


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
