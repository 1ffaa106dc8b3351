"""What a session can tell of what actions do: changes, statistics, watches and catches."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from typing import Literal

from actiondbg import protocol
from actiondbg.breakpoints.breakpoint import Breakpoint
from actiondbg.breakpoints.condition import parse_condition
from actiondbg.breakpoints.spec import parse_spec
from actiondbg.breakpoints.watch import catch_spec, parse_catch, parse_target, watch_spec
from actiondbg.errors import NoSuchUnit, NotStopped, UnitErased, UsageError
from actiondbg.process.stop import Stop
from actiondbg.session.breaking import Breaking
from actiondbg.session.controls import Controls
from actiondbg.support.globs import check_glob

StatisticKind = Literal["pattern", "pass", "fold"]

_TAGS: dict[StatisticKind, str] = {
    "pattern": "apply-pattern",
    "pass": "pass-execution",
    "fold": "fold",
}
ANY = protocol.OutcomeFilter()


class Observing(Controls, Breaking):
    """The part of Session that looks at what actions do."""

    def __init__(self) -> None:
        super().__init__()
        self._verifies = False
        self._counts = False

    @property
    @abstractmethod
    def stop(self) -> Stop | None:
        """Where the tool stands, or how it ended; None while it runs, and before."""

    # --- going on until something is done ---

    def until(self, spec: str, condition: str | None = None) -> Stop:
        """Go on to the next action that matches, but no further than the end of the parent action.

        Args:
            spec: see ``actiondbg.breakpoints.spec``.
            condition: see ``actiondbg.breakpoints.condition``; None for no further condition.
        """
        return self._advance_to(spec, condition, within=True)

    def advance(self, spec: str, condition: str | None = None) -> Stop:
        """Go on to the next action that matches, wherever it is; see ``until``."""
        return self._advance_to(spec, condition, within=False)

    def next_attempt(self, name: str, location: str | None = None) -> Stop:
        """Go on to the end of the next attempt of a pattern, whatever comes of it.

        Args:
            name: of the pattern, a glob.
            location: only on an operation from there, such as "in.mlir:3"; None for any.
        """
        terms = attempt_terms(name, location)
        return self._go_until(
            protocol.Until(terms=terms, condition=None, within=False, after=True, outcome=ANY)
        )

    def next_change(self, count: int = 1) -> Stop:
        """Go on to the end of the next action that itself changes the IR.

        An action that changes nothing but through its nested actions is passed.

        Args:
            count: to the ``count``-th such action, from 1.
        """
        until = protocol.Until(
            terms=[],
            condition=None,
            within=False,
            after=True,
            outcome=protocol.OutcomeFilter(results=["changed"]),
            own=True,
        )
        return self._go_until(until, count)

    def _advance_to(self, spec: str, condition: str | None, within: bool) -> Stop:
        until = protocol.Until(
            terms=parse_spec(spec),
            condition=None if condition is None else parse_condition(condition),
            within=within,
        )
        return self._go_until(until)

    def _go_until(self, until: protocol.Until, count: int = 1) -> Stop:
        return self._resume("continue", count, until)

    # --- watches and catches ---

    def watch(
        self, target: str, *, exact: bool = False, condition: str | None = None
    ) -> Breakpoint:
        """Stop when an operation, an attribute, or a number of operations changes.

        Args:
            target: "cursor", an id such as "@12", an SSA name at the stop such as "%3" or
                "%x#1"; "attribute NAME of" one of these; "op:GLOB count".
            exact: look at this operation only, not at what replaces it.
            condition: when, see ``actiondbg.breakpoints.condition``; of the action that did it.

        Returns:
            The watch: a breakpoint that names the operation by its id, which is the same in
            every run.

        Raises:
            UsageError: the target or the condition is written wrongly, or is no operation.
            NotStopped: "cursor" or an SSA name is given, and the tool is not at a stop.
            NoSuchUnit: there is no such value at the stop.
        """
        parsed = parse_target(target)
        watch = protocol.Watch(kind=parsed.kind, exact=exact)
        if parsed.kind == "count":
            watch.glob = parsed.name
        elif parsed.operation is not None:
            watch.attribute = parsed.name
            watch.id = self._operation_id(parsed.operation)
        return self._add(Breakpoint(self._list.next_id, watch_spec(watch), condition, watch=watch))

    def catch(self, kind: str, glob: str | None = None) -> Breakpoint:
        """Stop at an event that is no action.

        Args:
            kind: "failure" (of a pass), "crash", "verify" (the IR is found to be invalid),
                "diagnostic" or "nonconvergence" (of a greedy driver).
            glob: of the text of the diagnostic, or of the pass that fails; None for any.

        Raises:
            UsageError: there is no such event, or it takes no glob.
        """
        event = parse_catch(kind, glob)
        return self._add(Breakpoint(self._list.next_id, catch_spec(event), catch=event))

    def _operation_id(self, operation: str | int) -> int:
        """Find the id of "cursor", of an SSA name at the stop, or of an id."""
        if isinstance(operation, int):
            return operation
        unit = self.cursor().unit if operation == "cursor" else self._unit_of_value(operation)
        if unit.kind != "operation":
            what = "a block argument" if operation.startswith("%") else f"on a {unit.kind}"
            raise UsageError(
                f"{operation} is {what}, and no operation: name the operation that holds it by "
                f"its id, @{unit.id}."
            )
        if unit.id is None or unit.state == "erased":
            raise UnitErased(f"The operation of {operation} is erased: name it by its id.")
        return unit.id

    def _unit_of_value(self, name: str) -> protocol.Unit:
        """Look where a value comes from, and leave the cursor where it was."""
        before = self.cursor()
        try:
            return self._ask(protocol.MoveCursor(to="value", name=name)).unit
        finally:
            self._restore(before)

    def _restore(self, cursor: protocol.Cursor) -> None:
        holds = {"operation": 0, "region": 1, "block": 2}  # how far from its operation's path
        steps = holds.get(cursor.unit.kind)
        with contextlib.suppress(NoSuchUnit, UnitErased):
            if cursor.unit.id is not None and steps is not None:
                self._ask(protocol.MoveCursor(to="id", index=cursor.unit.id))
                for index in cursor.path[len(cursor.path) - steps :]:
                    self._ask(protocol.MoveCursor(to="child", index=index))
                return
        self._ask(protocol.MoveCursor(to="action"))

    # --- what actions did ---

    def changes(self, nested: bool = True, limit: int = 1000) -> protocol.Changes:
        """List the changes that the selected frame's action has made so far.

        Args:
            nested: those of its nested actions too.
            limit: how many at most, the first ones; from 0.

        Returns:
            The changes, how many there are in all and of each kind, and how many of the oldest
            are no longer held.
        """
        if limit < 0:
            raise UsageError(f"{limit} changes cannot be listed: give a limit from 0.")
        return self._ask(protocol.GetChanges(nested=nested, count=limit))

    def statistics(self, kind: StatisticKind | None = None) -> list[protocol.Statistic]:
        """Count what the actions of each tag and name came to in this run.

        Args:
            kind: only patterns, passes or folds; None for all.
        """
        rows = self._all_statistics()
        return rows if kind is None else [row for row in rows if row.tag == _TAGS[kind]]

    @abstractmethod
    def _all_statistics(self) -> list[protocol.Statistic]:
        """Count all actions up to now."""

    def count(self, glob: str, function: bool = False) -> int:
        """Count the operations of a name.

        Args:
            glob: of the name, such as "arith.*".
            function: only in the cursor's function, not in the module.
        """
        check_glob(glob, glob, 0)
        return self._ask(protocol.CountOperations(glob=glob, function=function)).count

    @property
    def verify_each_action(self) -> bool:
        """Whether the IR is verified after every action, and the tool stops when it is broken."""
        return self._verifies

    @verify_each_action.setter
    def verify_each_action(self, on: bool) -> None:
        self._set_options(protocol.SetOptions(verify_each_action=on))
        self._verifies = on

    @property
    def counting(self) -> bool:
        """Whether all actions are counted as they run, with passes compared; else by a replay."""
        return self._counts

    @counting.setter
    def counting(self, on: bool) -> None:
        self._set_options(protocol.SetOptions(count=on))
        self._counts = on

    def _set_options(self, options: protocol.SetOptions) -> None:
        run = self._current
        if run is not None and run.state == "running":
            raise NotStopped("The tool is running: interrupt it before changing what it does.")
        if run is not None and run.state == "stopped":
            self._ask(options)


def attempt_terms(name: str, location: str | None) -> list[protocol.Term]:
    """Return the terms of the attempts of a pattern.

    Args:
        name: of the pattern, a glob.
        location: where the operation is from, such as "in.mlir:3"; None for anywhere.

    Raises:
        UsageError: the name is no glob, or the location no place.
    """
    check_glob(name, name, 0)
    terms = [protocol.Term(kind="pattern", glob=name)]
    if location is None:
        return terms
    places = parse_spec(location)
    if any(term.kind != "location" for term in places):
        raise UsageError(f"{location!r} is no place in a file: write FILE:LINE or FILE:LINE:COL.")
    return terms + places
