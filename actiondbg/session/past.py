"""Questions about the past of a run, which a replica of the tool answers by repeating it."""

from __future__ import annotations

import contextlib
import os
from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from actiondbg import protocol
from actiondbg.analysis.attempts import Attempt, Attempts, Group, attempts_of
from actiondbg.analysis.history import Event, History, history_of
from actiondbg.breakpoints.watch import parse_operation
from actiondbg.errors import AgentError, NoSuchUnit, UsageError
from actiondbg.ir.printed import PrintedText
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.session.observing import ANY, attempt_terms
from actiondbg.session.replay import Place, Replaying, go, logging, read_log
from actiondbg.session.reproducer import Reproducer, pass_around, write_reproducer
from actiondbg.tool import Tool

if TYPE_CHECKING:
    from actiondbg.analysis.cycles import Applied, Cycle
    from actiondbg.ir.diff import Diff

__all__ = ["Attempt", "Attempts", "Event", "Group", "History", "Past", "Reproducer"]

_STREAM = 20_000  # newest changing actions in which a cycle is looked for
_REACH = 1_000_000  # newest actions, changing or not, of which they are taken
_SHOWN = 8  # actions of a cycle whose diffs are made


class Past(Replaying):
    """The part of Session that answers questions about the past; see ``Replaying``."""

    @property
    @abstractmethod
    def argv(self) -> list[str]:
        """The tool's command line."""

    @property
    @abstractmethod
    def tool(self) -> Tool:
        """The tool; raises LaunchError when there is none that the agent can be put into."""

    def why_not(self, name: str, location: str | None = None, op_id: int | None = None) -> Attempts:
        """Find all attempts of a pattern up to now, with what came of each.

        Args:
            name: of the pattern, a glob.
            location: only on operations from there, such as "in.mlir:3"; None for any.
            op_id: only on this operation; None for any.

        Returns:
            The attempts; none of a pattern that was never tried.

        Raises:
            UsageError: the name is no glob, or the location no FILE:LINE.
        """
        terms = attempt_terms(name, location)
        with self._log_file() as log:
            self._watch_run([logging(terms, ANY)], self._now(), log).close()
            return attempts_of(name, read_log(log), op_id)

    def history(self, target: str = "cursor") -> History:
        """Tell the life of an operation up to now.

        Args:
            target: "cursor", an id such as "@12", or an SSA name at the stop such as "%3".

        Raises:
            UsageError: the target is no operation.
            NotStopped: "cursor" or an SSA name is given, and the tool is not at a stop.
            NoSuchUnit: there has been no such operation.
        """
        id = self._operation_id(parse_operation(target))
        watch = protocol.Watch(kind="operation", id=id, exact=True)
        with self._log_file() as log:
            with self._watch_run([logging([], watch=watch)], self._now(), log) as replica:
                op = _name_of(replica, id)
            lines = list(read_log(log))
        if op is None and not lines:
            raise NoSuchUnit(f"There is no operation @{id} in this run up to now.")
        return history_of(id, op or "", lines)

    def diff(self, ordinal: int | None = None, module: bool = False) -> Diff:
        """Compare the IR before an action with that after it.

        Args:
            ordinal: the action, from 1; None for the one after which the tool stands.
            module: of the whole module; else of the function that holds the action's operation,
                if there is one and it is there afterwards.

        Returns:
            The difference, which is empty for an action that was skipped.

        Raises:
            UsageError: the action has not been dispatched, or is not over.
        """
        if ordinal is None:
            self._past_run()
            stop = self.stop
            if stop is None or stop.when != "after":
                raise UsageError(
                    "The tool does not stand after an action: go to its end with next, or name an "
                    "action that is over by its ordinal, such as #17."
                )
            ordinal = stop.ordinal
        self._check_past(ordinal, "after")
        return self._diff(self._replica, ordinal, module, self._skipped())

    def cycles(self) -> Cycle | None:
        """Find the actions that a greedy driver repeats without an end.

        Returns:
            The actions of one round and how often they came at the end of the stream up to now,
            with what each of the first of them does; None if nothing is repeated.
        """
        from actiondbg.analysis.cycles import Applied, find_cycle

        place = self._now()
        recent = protocol.Condition(
            call=">",
            args=[
                protocol.Condition(field="ordinal"),
                protocol.Condition(value=place.ordinal - _REACH),
            ],
        )
        changed = protocol.OutcomeFilter(results=["changed"])
        breakpoints = [
            logging([protocol.Term(kind="tag", glob=tag)], changed, condition=recent, id=id)
            for id, tag in enumerate(("apply-pattern", "fold"), 1)
        ]
        with self._log_file() as log:
            self._watch_run(breakpoints, place, log).close()
            newest = deque(read_log(log), maxlen=_STREAM)
        applied = [
            Applied(
                ordinal=line.ordinal,
                tag=line.tag,
                name=line.name,
                op=line.op,
                id=line.id,
                location=line.location,
            )
            for line in newest
        ]
        found = find_cycle(applied)
        if found is None:
            return None
        return msgspec.structs.replace(found, diffs=self._diffs(found.round[:_SHOWN]))

    def reproducer(self, path: str | os.PathLike[str]) -> Reproducer:
        """Write the IR before the pass that runs, or crashed, with its pipeline.

        Args:
            path: the file; ``mlir-opt FILE --run-reproducer`` does the pass again.

        Raises:
            UsageError: no pass runs.
            FileNotWritten: the file cannot be written.
        """
        with self._replica_at(Place(self._pass_ordinal())) as replica:
            pipeline = replica.request(protocol.GetPipeline()).text
            file = self._new_print()
            message = protocol.Print(what="module", path=str(file))
            with PrintedText(file, replica.request(message)) as printed:
                return write_reproducer(Path(path), printed, pipeline, self.tool.path, self.argv)

    # --- behind them ---

    def _pass_ordinal(self) -> int:
        """Find the innermost pass that runs."""
        run = self._past_run()
        if run.state == "stopped":
            return pass_around(self.backtrace())
        if run.stop is None or not run.stop.ordinal:
            raise UsageError(
                "The tool did not end in a pass: go to one with break, and ask at its stop."
            )
        with self._replica_at(self._now()) as replica:
            return pass_around(replica.request(protocol.Backtrace()).frames)

    def _diffs(self, actions: list[Applied]) -> list[Diff]:
        """Compare what each action does, from one replica that stands before all of them."""
        skipped = self._skipped()
        with self._replica_at(Place(min(one.ordinal for one in actions))) as first:
            return [self._diff(first.fork, one.ordinal, False, skipped) for one in actions]

    def _diff(
        self, make: Callable[[], ForkedTool], ordinal: int, module: bool, skipped: list[int]
    ) -> Diff:
        from actiondbg.process.action_diff import compare_action

        return compare_action(
            make, ordinal, self._new_print, module=module, skipped=ordinal in skipped
        )

    def _new_print(self) -> Path:
        self._prints += 1
        return self._file(f"print-{self._prints}")

    def _all_statistics(self) -> list[protocol.Statistic]:
        run = self._current
        if run is None or run.state != "exited":
            counted = self._ask(protocol.GetStatistics())
            if not counted.uncounted:
                return counted.rows
        with self._replica() as replica:
            replica.request(protocol.SetOptions(count=True))
            go(replica, self._now())
            return replica.request(protocol.GetStatistics()).rows


def _name_of(replica: ForkedTool, id: int) -> str | None:
    """Return the name of an operation, or None when there is none of that id any more."""
    with contextlib.suppress(AgentError):
        return replica.request(protocol.MoveCursor(to="id", index=id)).unit.name
    return None
