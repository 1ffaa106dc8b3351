"""One alternative, run in a fork of the stop."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from actiondbg import protocol
from actiondbg.bisection.trials.trial import RunningTrial
from actiondbg.errors import AgentError, UsageError
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Stop
from actiondbg.whatif.alternatives import (
    Alternative,
    AppendedPipeline,
    Change,
    ChangedBenefit,
    DroppedPass,
    PatternSwitch,
)

_RESTRICTED = re.compile(r"pass '(.*)' restricted to '(.*?)' on a PassManager")


class RunEnd(NamedTuple):
    """The end of an alternative's run.

    Attributes:
        stop: the end of the tool, or the stop at ``until``; None after a time-out.
        caught: the stop of a catch on the way, or None.
        census: the operations of the final IR, and what was used; None if the tool did not write
            it, as after a crash.
        actions: the number of actions dispatched; None if unknown.
        seconds: the time from the stop to the end.
        output: the file of the tool's output, or of the IR printed at ``until``.
        ir: the file with the final IR; there may be none, as after a crash.
        errors: the file of the tool's stderr.
    """

    stop: Stop | None
    caught: Stop | None
    census: protocol.Census | None
    actions: int | None
    seconds: float
    output: Path
    ir: Path
    errors: Path


def run_alternative(
    start: ForkedTool,
    skips: protocol.SetSkips,
    alternative: Alternative,
    running: RunningTrial,
    *,
    names_output: bool,
    is_shared: bool,
    until: str | None,
    seconds: float | None,
) -> RunEnd:
    """Run an alternative to its end.

    Args:
        start: the frozen stop.
        skips: of the timeline.
        alternative: what the run does otherwise.
        running: owns the fork, and has the directory of its files.
        names_output: whether the command line names an output file.
        is_shared: whether others write to the tool's stdout, so that its text up to the stop is not
            the tool's.
        until: the pass after which the run stops, a glob; None for the end.
        seconds: the time limit; None for none.
    """
    stem, report = running.directory / "run", running.directory / "census.json"
    output, errors = stem.with_suffix(".output"), stem.with_suffix(".err")
    ir = stem.with_suffix(".mlir")
    out = stem.with_suffix(".out")
    fork = running.own(start.fork("trial", stdout=str(out), stderr=str(errors), output=str(output)))
    copied = out.stat().st_size
    fork.request(skips_with(skips, alternative.changes))
    fork.request(request_of(alternative.changes, report, ir))
    caught: Stop | None = None
    census: protocol.Census | None = None
    actions: int | None = None
    began = time.monotonic()
    try:
        stop = fork.complete(seconds, _until(until))
        if stop.reason in ("catch", "verify"):
            caught = stop
            fork.request(protocol.SetBreakpoints(breakpoints=[]))
            stop = fork.complete(seconds, _until(until))
    except TimeoutError:
        stop = None
    taken = time.monotonic() - began
    if stop is not None and stop.when != "exit":
        census = fork.request(protocol.GetCensus())
        actions = fork.request(protocol.GetStatus()).ordinal
        output = ir
        fork.request(protocol.Print(what="module", path=str(ir)))
    elif stop is not None:
        census = _read(report)
        actions = stop.actions
        output = output if names_output else out
        if output is out and is_shared and copied:
            out.write_bytes(out.read_bytes()[copied:])
    fork.close()
    return RunEnd(stop, caught, census, actions, taken, output, ir, errors)


def check_pipelines(start: ForkedTool, alternatives: Sequence[Alternative]) -> None:
    """Raise UsageError for a pipeline that the tool cannot parse."""
    pipelines = [one for each in alternatives for one in _pipelines(each.changes)]
    if not pipelines:
        return
    with start.fork() as fork:
        for pipeline in dict.fromkeys(pipelines):
            try:
                fork.request(protocol.SetAlternative(pipelines=[pipeline]))
            except AgentError as error:
                raise UsageError(
                    f"The pipeline {pipeline!r} cannot be appended: {refusal(str(error))}."
                ) from error


def refusal(message: str) -> str:
    """Return why MLIR refuses a pipeline, without a final dot."""
    restricted = _RESTRICTED.search(message)
    if restricted is None:
        return message.rstrip(".")
    name, op = restricted.groups()
    return f"{name} runs on {op} only, so write it as {op}(...)"


def skips_with(skips: protocol.SetSkips, changes: Sequence[Change]) -> protocol.SetSkips:
    """Return the skips of the timeline with those of changes; the rules of these are the last."""
    rules = skips.rules
    for change in changes:
        if isinstance(change, PatternSwitch) and change.on:
            rules = [_exempting(rule, change.pattern) for rule in rules]
    own = [rule for change in changes for rule in _rule(change)]
    return msgspec.structs.replace(skips, rules=[*rules, *own])


def request_of(changes: Sequence[Change], report: Path, ir: Path) -> protocol.SetAlternative:
    """Return the request that makes a fork change benefits, append pipelines and report."""
    benefits = [one for change in changes for one in _benefit(change)]
    return protocol.SetAlternative(
        benefits=benefits, pipelines=_pipelines(changes), report=str(report), ir=str(ir)
    )


def unmatched(changes: Sequence[Change], census: protocol.Census | None) -> list[Change]:
    """Return the changes whose pattern or pass there was not."""
    if census is None:
        return []
    ruled = [one for one in changes if _rule(one)]
    beneficial = [one for one in changes if _benefit(one)]
    uses = census.rules[len(census.rules) - len(ruled) :]
    unused = [one for one, count in zip(ruled, uses, strict=False) if not count]
    return unused + [
        one for one, found in zip(beneficial, census.benefits, strict=False) if not found
    ]


def _rule(change: Change) -> list[protocol.SkipRule]:
    if isinstance(change, DroppedPass):
        term = protocol.Term(kind="pass", glob=change.name)
    elif isinstance(change, PatternSwitch) and not change.on:
        term = protocol.Term(kind="pattern", glob=change.pattern)
    else:
        return []
    return [protocol.SkipRule(terms=[term], condition=None)]


def _benefit(change: Change) -> list[protocol.BenefitChange]:
    if isinstance(change, ChangedBenefit):
        return [protocol.BenefitChange(pattern=change.pattern, benefit=change.benefit)]
    if isinstance(change, PatternSwitch) and change.on:
        return [protocol.BenefitChange(pattern=change.pattern, benefit=None)]
    return []


def _pipelines(changes: Sequence[Change]) -> list[str]:
    return [one.pipeline for one in changes if isinstance(one, AppendedPipeline)]


def _exempting(rule: protocol.SkipRule, pattern: str) -> protocol.SkipRule:
    """Return a rule that skips no application of a pattern."""
    name = protocol.Condition(field="name")
    tag = protocol.Condition(
        call="==",
        args=[protocol.Condition(field="tag"), protocol.Condition(value="apply-pattern")],
    )
    named = [
        protocol.Condition(call="~", args=[name, protocol.Condition(value=glob)])
        for glob in (pattern, f"*::{pattern}")
    ]
    exempt = protocol.Condition(call="and", args=[tag, protocol.Condition(call="or", args=named)])
    condition = protocol.Condition(call="not", args=[exempt])
    if rule.condition is not None:
        condition = protocol.Condition(call="and", args=[rule.condition, condition])
    return msgspec.structs.replace(rule, condition=condition)


def _until(name: str | None) -> protocol.Until | None:
    if name is None:
        return None
    return protocol.Until(
        terms=[protocol.Term(kind="pass", glob=name)],
        condition=None,
        within=False,
        after=True,
        outcome=protocol.OutcomeFilter(),
    )


def _read(report: Path) -> protocol.Census | None:
    try:
        return msgspec.json.decode(report.read_bytes(), type=protocol.Census)
    except (OSError, msgspec.DecodeError):
        return None  # the tool was killed before its end
