"""Runs of alternatives, each in a fork of the same stop."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from actiondbg import protocol
from actiondbg.analysis.actions import ListedAction
from actiondbg.bisection.trial import RunningTrial
from actiondbg.errors import AgentError, UsageError
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Stop
from actiondbg.protocol.tags import PATTERN_TAG
from actiondbg.support.decoders import decoder_of
from actiondbg.whatif.alternatives import (
    Alternative,
    AppendedPipeline,
    Change,
    ChangedBenefit,
    DroppedPass,
    Switch,
    switches_of,
)
from actiondbg.whatif.pass_plan import PassPlan, PlanDriver

if TYPE_CHECKING:
    from actiondbg.analysis.actions import ListedAction

_RESTRICTED = re.compile(r"pass '(.*)' restricted to '(.*?)' on a PassManager")


class RunEnd(NamedTuple):
    """The end of an alternative's run."""

    stop: Stop | None  # the end of the tool, or the stop at ``until``; None after a time-out
    caught: Stop | None  # the stop of a catch on the way, or None
    # The operations of the final IR, and what was used; None if the tool did not write it, as after
    # a crash.
    census: protocol.Census | None
    # The number of actions that the alternative did not leave out; None if unknown.
    actions: int | None
    seconds: float  # the time from the stop to the end
    output: Path  # the file of the tool's output, or of the IR printed at ``until``
    ir: Path  # the file with the final IR; there may be none, as after a crash
    errors: Path  # the file of the tool's stderr


@dataclass(frozen=True, slots=True)
class AlternativeRuns:
    """Runs alternatives, each to its end in a fork of a stop."""

    start: ForkedTool  # the frozen stop
    skips: protocol.SetSkips  # of the timeline
    names_output: bool  # whether the command line names an output file
    # Whether others write to the tool's stdout, so that its text up to the stop is not the tool's.
    is_shared: bool
    until: str | None  # the pass after which runs stop, a glob; None for the end
    seconds: float | None  # the time limit of each; None for none
    catches: Sequence[protocol.WireBreakpoint]  # what the oracle catches; set in the frozen stop

    def run(
        self,
        alternative: Alternative,
        running: RunningTrial,
        plan: PassPlan | None,
        begun: Iterable[ListedAction],
    ) -> RunEnd:
        """Run an alternative to its end, with a plan's changes, after the passes that have begun.

        Raises:
            UsageError: a pipeline of the plan cannot run at its place.
        """
        stem, report = running.directory / "run", running.directory / "census.json"
        output, errors = stem.with_suffix(".output"), stem.with_suffix(".err")
        ir = stem.with_suffix(".mlir")
        out = stem.with_suffix(".out")
        fork = running.own(
            self.start.fork("trial", stdout=str(out), stderr=str(errors), output=str(output))
        )
        copied = out.stat().st_size
        skips = skips_with(self.skips, alternative.changes)
        fork.request(skips)
        fork.request(request_of(alternative.changes, report, ir))
        driver = None if plan is None else PlanDriver(fork, skips, plan, begun)
        census: protocol.Census | None = None
        actions: int | None = None
        began = time.monotonic()
        stop, caught = self._complete(fork, driver)
        taken = time.monotonic() - began
        if stop is not None and stop.when != "exit":
            census = fork.request(protocol.GetCensus())
            actions = fork.request(protocol.GetStatus()).ordinal
            output = ir
            fork.request(protocol.Print(what="module", path=str(ir)))
        elif stop is not None:
            census = _read(report)
            actions = stop.actions
            output = output if self.names_output else out
            if output is out and self.is_shared and copied:
                out.write_bytes(out.read_bytes()[copied:])
        fork.close()
        if actions is not None and census is not None:
            actions -= sum(_own(alternative.changes, census.skipped))
            actions -= 0 if driver is None else driver.left_out
        return RunEnd(stop, caught, census, actions, taken, output, ir, errors)

    def _complete(
        self, fork: ForkedTool, driver: PlanDriver | None
    ) -> tuple[Stop | None, Stop | None]:
        """Run a fork to its end; return the end, or None after a time-out, and what was caught."""
        until = None
        if self.until is not None:
            until = protocol.Until(terms=[protocol.Term(kind="pass", glob=self.until)], after=True)
        deadline = None if self.seconds is None else time.monotonic() + self.seconds
        own = [] if driver is None else [driver.breakpoint]
        caught: Stop | None = None
        try:
            if driver is not None:
                fork.request(protocol.SetBreakpoints(breakpoints=[*self.catches, *own]))
            control = "continue" if driver is None else driver.begin()
            while True:
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                stop = fork.complete(left, until, control)
                control = "continue"
                if stop.reason in ("catch", "verify"):
                    caught = stop
                    fork.request(protocol.SetBreakpoints(breakpoints=own))
                elif stop.reason == "breakpoint" and driver is not None:
                    control = driver.before_pass(stop)
                else:
                    return stop, caught
        except TimeoutError:
            return None, caught
        except AgentError as error:
            raise UsageError(
                f"A pipeline cannot run at its place: {refusal(str(error))}."
            ) from error


def _own(changes: Sequence[Change], numbers: list[int]) -> list[int]:
    """Return of the numbers of all skip rules those of the changes, whose rules are the last."""
    return numbers[len(numbers) - len(_ruled(changes)) :]


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
    """Return the skips of the timeline with those of changes.

    The rules of the changes are the last, and of these the rules of switches.
    """
    rules = skips.rules
    for change in changes:
        if isinstance(change, Switch) and change.on:
            rules = [_exempting(rule, change.name) for rule in rules]
    own = [_rule(change) for change in _ruled(changes)]
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
    ruled = _ruled(changes)
    beneficial = [one for one in changes if _benefit(one)]
    used = [one for one, count in zip(ruled, _own(changes, census.rules), strict=False) if count]
    unused = [one for one in ruled if one not in used]  # the first of two equal ones is used
    return unused + [
        one for one, found in zip(beneficial, census.benefits, strict=False) if not found
    ]


def _ruled(changes: Sequence[Change]) -> list[DroppedPass | Switch]:
    """Return the changes that are rules of skips, in the order of the rules."""
    dropped = (one for one in changes if isinstance(one, DroppedPass))
    return [*(one for one in dropped if one.reference.number is None), *switches_of(changes)]


def _rule(change: DroppedPass | Switch) -> protocol.SkipRule:
    if isinstance(change, DroppedPass):
        terms = [protocol.Term(kind="pass", glob=change.reference.name)]
    else:
        terms = [protocol.Term(kind=change.kind, glob=change.name)]
        if change.inside is not None:
            terms.append(protocol.Term(kind="in", glob=change.inside.name))
    return protocol.SkipRule(terms=terms, condition=None)


def _benefit(change: Change) -> list[protocol.BenefitChange]:
    if isinstance(change, ChangedBenefit):
        return [protocol.BenefitChange(pattern=change.pattern, benefit=change.benefit)]
    if isinstance(change, Switch) and change.on:
        return [protocol.BenefitChange(pattern=change.name, benefit=None)]
    return []


def _pipelines(changes: Sequence[Change]) -> list[str]:
    return [one.pipeline for one in changes if isinstance(one, AppendedPipeline)]


def _exempting(rule: protocol.SkipRule, pattern: str) -> protocol.SkipRule:
    """Return a rule that skips no application of a pattern."""
    name = protocol.Condition(field="name")
    tag = protocol.Condition(
        call="==", args=[protocol.Condition(field="tag"), protocol.Condition(value=PATTERN_TAG)]
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


def _read(report: Path) -> protocol.Census | None:
    try:
        return decoder_of(protocol.Census).decode(report.read_bytes())
    except (OSError, msgspec.DecodeError):
        return None  # the tool was killed before its end
