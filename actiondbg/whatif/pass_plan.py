"""What an alternative does at the places of the tool's pipeline."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from actiondbg import protocol
from actiondbg.analysis.actions import ListedAction
from actiondbg.analysis.pipeline import Place, Places, find_pass, is_adaptor
from actiondbg.analysis.textual_pipelines import Element, options_of, parse_pipeline
from actiondbg.errors import AgentError, UsageError
from actiondbg.protocol.tags import PASS_TAG
from actiondbg.support.globs import escape_glob, glob_matches
from actiondbg.whatif.alternatives import (
    Alternative,
    Change,
    ChangedOptions,
    DroppedPass,
    InsertedPipeline,
    MovedPass,
    PassReference,
    ReplacedPass,
    SwappedPasses,
    Switch,
    switches_of,
)

if TYPE_CHECKING:
    from actiondbg.process.forked_tool import ForkedTool
    from actiondbg.process.stop import Stop


@dataclass(frozen=True)
class PlacedPass:
    """A pass at a place of the pipeline."""

    place: Place
    runs: Sequence[ListedAction]  # all runs there, in their order
    element: Element | None  # the pass with its options; None if the tool does not print it
    nest: tuple[str, ...]  # the names of the operations around it, from the outermost one

    @property
    def name(self) -> str:
        return self.place[-1].name

    @property
    def around(self) -> str:
        """The innermost pass, no adaptor, that runs it as a part of itself; empty if none does."""
        return next((step.name for step in reversed(self.place[:-1]) if step.name), "")


@dataclass(frozen=True)
class TimelinePipeline:
    """The passes of a timeline, as they are without any alternative."""

    runs: Sequence[ListedAction]  # of all passes, in their order
    first: int  # the ordinal from which on alternatives can change a pass
    ahead: Sequence[PlacedPass]  # the passes with a run from there on

    def find(self, reference: PassReference) -> list[PlacedPass]:
        """Return the passes ahead that a reference selects; raises UsageError if there is none."""
        if reference.number is None:
            found = [one for one in self.ahead if glob_matches(reference.name, one.name)]
        else:
            ordinal = find_pass(self.runs, str(reference))
            found = [one for one in self.ahead if any(run.ordinal == ordinal for run in one.runs)]
        if not found:
            find_pass(self.runs, reference.name)  # raises, if it does not run at all
            raise UsageError(
                f"{reference} has run before this stop: alternatives change what runs from here on."
            )
        return found

    def find_single(self, reference: PassReference) -> PlacedPass:
        """Return the only pass ahead that a reference selects; raises UsageError if not one."""
        found = self.find(reference)
        if len(found) > 1:
            numbers = [self.numbered(reference, one) for one in found]
            raise UsageError(
                f"{reference} is at {len(found)} places of the pipeline: name one of "
                f"{', '.join(numbers)}."
            )
        return found[0]

    def numbered(self, reference: PassReference, one: PlacedPass) -> str:
        """Return a reference to a pass that a reference without a number selects."""
        runs = [
            run.ordinal
            for run in self.runs
            if glob_matches(reference.name, run.name) and not is_adaptor(run.name)
        ]
        return f"{reference}#{runs.index(one.runs[0].ordinal) + 1}"


@dataclass
class PlaceChanges:
    """What runs at a place."""

    before: list[str] = field(default_factory=list[str])  # pipelines that run before the pass
    # Pipelines that run instead of the pass; None for the pass itself.
    body: list[str] | None = None
    after: list[str] = field(default_factory=list[str])  # pipelines that run after it


class PassPlan:
    """What an alternative does at the places of the pipeline that it begins on.

    Raises:
        UsageError: a change names no pass ahead, or cannot be made.
    """

    def __init__(self, alternative: Alternative, pipeline: TimelinePipeline) -> None:
        self.places: dict[Place, PlaceChanges] = {}  # the changes, by place
        self.notes: list[str] = []  # one sentence each
        self._moved: set[Place] = set()
        self._pipeline = pipeline
        for change in alternative.changes:
            self._add(change)
        # The places in which each switch of a single place holds, by its index among the switches
        # that are off; None for a switch that holds everywhere.
        self.switched = [self._switched(one) for one in switches_of(alternative.changes)]

    def _switched(self, switch: Switch) -> set[Place] | None:
        if switch.inside is None or switch.inside.number is None:
            return None
        found = {one.place for one in self._find(switch.inside)}
        if not found.isdisjoint(self._moved):
            raise UsageError(
                f"{switch.text!r} cannot hold, as the alternative moves {switch.inside} or leaves "
                "it out: switch off in a pass that stays at its place."
            )
        return found

    def _add(self, change: Change) -> None:
        if isinstance(change, MovedPass | SwappedPasses):
            self._reorder(change)
            return
        match change:
            case DroppedPass(reference):
                self._drop(reference)
            case ReplacedPass(reference, pipeline):
                for one in self._find(reference):
                    self._replace(one, reference, [pipeline])
            case ChangedOptions(reference, options):
                for one in self._find(reference):
                    element = _with_options(self._element(one), options)
                    self._replace(one, reference, [str(element)])
            case InsertedPipeline(pipeline, side, reference):
                for one in self._find(reference):
                    self._insert(one, side, [pipeline])
            case _:
                pass

    def _drop(self, reference: PassReference) -> None:
        if reference.number is None:  # a rule for skips leaves it out at every place
            self._note_nested(reference)
            return
        for one in self._find(reference):
            self._leave_out(one)

    def _reorder(self, change: MovedPass | SwappedPasses) -> None:
        if isinstance(change, SwappedPasses):
            one, other = self._single(change.first), self._single(change.second)
            taken = self._taken(one, change.first, other), self._taken(other, change.second, one)
            self._at(other).body, self._at(one).body = taken
            self._moved |= {one.place, other.place}
            return
        one, target = self._single(change.reference), self._single(change.other)
        if one is target:
            raise UsageError(f"{change.reference} cannot be moved {change.side} itself.")
        self._insert(target, change.side, self._taken(one, change.reference, target))
        self._leave_out(one)

    def _at(self, one: PlacedPass) -> PlaceChanges:
        return self.places.setdefault(one.place, PlaceChanges())

    def _leave_out(self, one: PlacedPass) -> None:
        self._at(one).body = []
        self._moved.add(one.place)

    def _insert(self, one: PlacedPass, side: str, pipelines: list[str]) -> None:
        changes = self._at(one)
        (changes.before if side == "before" else changes.after).extend(pipelines)

    def _replace(self, one: PlacedPass, reference: PassReference, body: list[str]) -> None:
        if self._at(one).body is not None:
            raise UsageError(f"{reference} is changed twice in one alternative: change it once.")
        self._at(one).body = body

    def _taken(self, one: PlacedPass, reference: PassReference, target: PlacedPass) -> list[str]:
        """Return what runs at a place, as pipelines for the operation of another place."""
        body = self._at(one).body
        if body == []:
            raise UsageError(f"{reference} is left out by an earlier change of the alternative.")
        pipelines = [str(self._element(one))] if body is None else body
        depth = len(target.nest)
        if one.nest[:depth] != target.nest:
            raise UsageError(
                f"{one.name} runs on {'/'.join(one.nest)}, and cannot run in the place of "
                f"{target.name}, which runs on {'/'.join(target.nest)}."
            )
        inner = ",".join(pipelines)
        for name in reversed(one.nest[depth:]):
            inner = f"{name}({inner})"
        return [inner]

    def _element(self, one: PlacedPass) -> Element:
        if one.element is None:
            raise UsageError(
                f"{one.name} has no textual form in this tool, so that only 'drop' and 'insert' "
                "can be used with it."
            )
        return one.element

    def _find(self, reference: PassReference) -> list[PlacedPass]:
        self._note_nested(reference)
        found = self._pipeline.find(reference)
        for one in found:
            self._note_runs(one, reference)
        return found

    def _single(self, reference: PassReference) -> PlacedPass:
        found = self._pipeline.find_single(reference)
        self._note_runs(found, reference)
        return found

    def _note_nested(self, reference: PassReference) -> None:
        """Note that a reference without a number selects runs inside other passes, too."""
        found = [one for one in self._pipeline.ahead if glob_matches(reference.name, one.name)]
        nested = [one for one in found if one.around]
        others = [one for one in found if not one.around]
        if reference.number is None and nested and others:
            around = ", ".join(dict.fromkeys(one.around for one in nested))
            self.notes.append(
                f"{reference} runs inside {around} as well, and the change holds there, too: "
                f"{self._pipeline.numbered(reference, others[0])} is the first that does not."
            )

    def _note_runs(self, one: PlacedPass, reference: PassReference) -> None:
        if reference.number is not None and len(one.runs) > 1:
            self.notes.append(
                f"{reference} is one of {len(one.runs)} runs at its place in the pipeline; the "
                "change holds for all of them."
            )


def _with_options(element: Element, options: str) -> Element:
    changed = {**options_of(element.options), **options_of(options)}
    return Element(element.name, " ".join(changed.values()))


def find_pipeline(
    start: ForkedTool, skips: protocol.SetSkips, runs: Sequence[ListedAction]
) -> TimelinePipeline:
    """Find the pipeline of a timeline, of which the skips and the runs of all passes are given."""
    stop = start.stop
    assert stop is not None
    first = stop.ordinal + (stop.when != "before")
    places = Places()
    found: dict[Place, list[ListedAction]] = {}
    for run in runs:
        place = places.locate(run)
        if not is_adaptor(run.name):
            found.setdefault(place, []).append(run)
    ahead: list[PlacedPass] = []
    with start.fork() as fork:
        fork.request(protocol.SetBreakpoints(breakpoints=[]))
        fork.request(skips)
        for place, here in sorted(found.items(), key=lambda one: _next(one[1], first)):
            ordinal = _next(here, first)
            if ordinal == _NEVER:
                break
            fork.advance(ordinal)
            text = ""
            with contextlib.suppress(AgentError):  # a pass of the tool without a name
                text = fork.request(protocol.GetPipeline()).text
            ahead.append(PlacedPass(place, here, *_described(text)))
    return TimelinePipeline(runs, first, ahead)


_NEVER = 1 << 62  # no ordinal comes up to it


def _next(runs: Iterable[ListedAction], first: int) -> int:
    return next((run.ordinal for run in runs if run.ordinal >= first), _NEVER)


def _described(text: str) -> tuple[Element | None, tuple[str, ...]]:
    """Return the innermost pass of a pipeline, and the operations around it."""
    element, nest = parse_pipeline(text), list[str]()
    while element is not None and element.inner:
        nest.append(element.name)
        element = element.inner[-1]
    return element, tuple(nest)


class PlanDriver:
    """Carries out a plan in a fork, which stops before each pass.

    The rules of the alternative are the last ones of the skips; the runs began before the stop.
    """

    def __init__(
        self,
        fork: ForkedTool,
        skips: protocol.SetSkips,
        plan: PassPlan,
        runs: Iterable[ListedAction],
    ) -> None:
        self._fork = fork
        self._skips = skips
        self._plan = plan
        self.left_out = 0  # passes in whose place others ran, or none
        self._places = Places()
        # Not requested without need: at a stop a rule would be counted twice.
        self._active: list[Place | None] = [None] * len(plan.switched)
        self._runs: Counter[str] = Counter()
        for run in runs:
            self._places.locate(run)
            self._runs[run.name] += 1

    @property
    def breakpoint(self) -> protocol.WireBreakpoint:
        """The breakpoint at which the fork must stop."""
        return protocol.WireBreakpoint(
            id=_DRIVER,
            enabled=True,
            temporary=False,
            after=False,
            ignore=0,
            terms=[protocol.Term(kind="tag", glob=PASS_TAG)],
            condition=None,
        )

    def begin(self) -> protocol.Control:
        """Prepare the fork; return the control with which to resume it."""
        stop = self._fork.stop
        if stop is not None and stop.when == "before" and stop.tag == PASS_TAG:
            return self.before_pass(stop)
        self._switch()
        return "continue"

    def before_pass(self, stop: Stop) -> protocol.Control:
        """Make the changes of the place of a pass; return the control with which to resume.

        Raises:
            AgentError: a pipeline cannot run there.
        """
        place = self._places.locate(stop)
        self._runs[stop.name] += 1
        self._switch()
        changes = self._plan.places.get(place)
        if changes is None:
            return "continue"
        self._fork.request(
            protocol.RunAround(
                before=changes.before, instead=changes.body or [], after=changes.after
            )
        )
        if changes.body is None:
            return "continue"
        self.left_out += 1
        return "skip"

    def _switch(self) -> None:
        """Let the rules hold that belong to the places of the running passes."""
        current = self._places.current
        around = {current[:length] for length in range(1, len(current) + 1)}
        active = [
            None if places is None else next(iter(places & around), ())
            for places in self._plan.switched
        ]
        if active == self._active:
            return
        self._active = active
        rules = list(self._skips.rules)
        for at, place in enumerate(active, len(rules) - len(active)):
            if place is not None:
                rules[at] = self._rule_in(rules[at], place)
        self._fork.request(msgspec.structs.replace(self._skips, rules=rules))

    def _rule_in(self, rule: protocol.SkipRule, place: Place) -> protocol.SkipRule:
        """Return a rule for the present run at a place; without a place one that never holds."""
        if not place:
            return msgspec.structs.replace(rule, first=_NEVER)
        name = place[-1].name
        run = protocol.Term(kind="in", glob=escape_glob(name), nth=self._runs[name])
        return msgspec.structs.replace(rule, terms=[*rule.terms, run])


_DRIVER = 1 << 30  # the id of its breakpoint; catches have smaller ones
