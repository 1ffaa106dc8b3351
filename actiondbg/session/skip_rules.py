"""The standing skip rules: every action that matches one is skipped."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from actiondbg import protocol
from actiondbg.breakpoints.condition import check_before_action, parse_condition
from actiondbg.breakpoints.resolution import Vocabulary, resolve_spec
from actiondbg.breakpoints.spec import parse_spec
from actiondbg.errors import UsageError
from actiondbg.process.branches import RuleSpan
from actiondbg.process.execution import Execution
from actiondbg.process.stop import Stop
from actiondbg.session.executions import Executions
from actiondbg.session.tool_replacement import ToolReplacement
from actiondbg.support.counts import no_such


class SkipRule(msgspec.Struct, kw_only=True, frozen=True):
    """A standing rule."""

    id: int  # its number, from 1; numbers are not used again
    spec: str  # of the actions to skip
    condition: str | None = None  # as of a breakpoint; None for none

    @property
    def text(self) -> str:
        """The SPEC with its condition, as commands take it."""
        return self.spec if self.condition is None else f"{self.spec} if {self.condition}"


class SkipRules:
    """The standing skip rules of a session.

    A rule applies to every run, from its beginning; to the current run from the stop at which it is
    added, and up to the stop at which it is removed. Going back and forth does not change which
    actions of a timeline were skipped: the agent, its forks and replays evaluate the same rules at
    the same actions.
    """

    def __init__(
        self, executions: Executions, replacement: ToolReplacement, names: Vocabulary
    ) -> None:
        self._executions = executions
        self._names = names
        self._replacement = replacement
        self._all: dict[int, SkipRule] = {}
        self._newest = 0

    def all(self) -> list[SkipRule]:
        """Return all rules by number."""
        return list(self._all.values())

    def add(self, spec: str, condition: str | None = None) -> SkipRule:
        """Skip the actions that match, from now on and in later runs.

        Args:
            spec: as of a breakpoint.
            condition: as of a breakpoint, but without counts and outcomes; None for none.

        Returns:
            The rule; an existing one, if it is the same.

        Raises:
            UsageError: the SPEC or the condition has a syntax error.
            NotStopped: the tool runs.
        """
        self._executions.check_idle("skip rules")
        spec = resolve_spec(spec, self._names).spec
        for one in self.all():
            if (one.spec, one.condition) == (spec, condition):
                return one
        rule = SkipRule(id=self._newest + 1, spec=spec, condition=condition)
        wire_rule(spec, condition)
        self._newest = rule.id
        self._all[rule.id] = rule
        self._apply()
        return rule

    def remove(self, ids: Iterable[int]) -> None:
        """Remove rules: their actions are applied from now on.

        Raises:
            UsageError: there is no such rule; none is removed.
            NotStopped: the tool runs.
        """
        ids = list(ids)
        self._executions.check_idle("skip rules")
        for number in ids:
            if number not in self._all:
                raise UsageError(no_such("skip rule", number, self._all))
        for number in dict.fromkeys(ids):
            del self._all[number]
        self._apply()

    # --- runs ---

    def at_start(self) -> protocol.SetSkips | None:
        """Return the request that sets the rules of a new run; None if there are none."""
        span = self._span(event=0, ordinal=1)
        rules = [msgspec.structs.replace(one, first=1) for one in span.rules]
        return protocol.SetSkips(ordinals=[], rules=rules) if rules else None

    def begin_run(self, execution: Execution) -> None:
        """Record the rules on the timeline of a new run."""
        execution.branches.set_rules(self._span(event=0, ordinal=1))

    def begin_branch(self, stop: Stop) -> None:
        """Begin a new branch in the tool; the action of the stop is decided by the user."""
        self._replacement.begin_branch()
        branches = self._executions.need().branches
        branches.set_rules(self._span(event=stop.event, ordinal=stop.ordinal + 1))

    def _apply(self) -> None:
        """Apply changed rules to the stopped tool."""
        execution = self._executions.current
        if execution is None or execution.state != "stopped":
            return
        stop = execution.stop
        is_before = stop is not None and stop.when == "before"
        newest = execution.request(protocol.GetStatus())
        first = newest.ordinal + (not is_before)
        if stop is not None and execution.branches.current.reached > stop.event:
            execution.branches.leave(stop)
            self._replacement.begin_branch()
        execution.branches.set_rules(self._span(event=newest.event, ordinal=first))
        execution.send_skips()

    def _span(self, event: int, ordinal: int) -> RuleSpan:
        rules = [wire_rule(one.spec, one.condition) for one in self.all()]
        return RuleSpan(event=event, ordinal=ordinal, rules=rules)


def wire_rule(spec: str, condition: str | None) -> protocol.SkipRule:
    """Return a rule as the agent gets it.

    Raises:
        UsageError: a syntax error, or the condition needs what is not known before an action.
    """
    parsed = None if condition is None else parse_condition(condition)
    check_before_action(parsed, "A skip rule")
    return protocol.SkipRule(terms=parse_spec(spec), condition=parsed)
