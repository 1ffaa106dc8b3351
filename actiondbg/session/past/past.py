"""Queries about the past of a run, answered by a replay in a fork."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from actiondbg import protocol
from actiondbg.analysis.actions import ActionList, ListedAction, Window
from actiondbg.analysis.attempts import Attempt, Attempts, PatternAttempts, attempts_of
from actiondbg.analysis.contrast import Contrast, Example, silent_failure
from actiondbg.analysis.history import History, Unfinished, history_of
from actiondbg.breakpoints.breakpoint import catches_on_wire
from actiondbg.breakpoints.resolution import Vocabulary
from actiondbg.breakpoints.selection import select
from actiondbg.breakpoints.spec import attempt_terms
from actiondbg.breakpoints.targets import OperationGlob, parse_operation, parse_wanted
from actiondbg.errors import AgentError, LaunchError, NoAnswer, NoSuchUnit, UsageError
from actiondbg.ir.printed import PrintedText
from actiondbg.ir.value_names import ValueNames
from actiondbg.process.branches import event_before
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Side, Stop, ended_action
from actiondbg.protocol.tags import FOLD_TAG, PASS_TAG, PATTERN_TAG, tag_of_kind
from actiondbg.session.executions import Executions
from actiondbg.session.inspection.agent_access import NamedAccess
from actiondbg.session.inspection.cursor import Cursor
from actiondbg.session.past import neighbourhoods
from actiondbg.session.past.action_search import ActionSearch, Wanted
from actiondbg.session.past.conversion_replay import ConversionReplay
from actiondbg.session.past.failure_return import FailureReturn, find_return
from actiondbg.session.past.pass_reproducer import (
    Reproducer,
    keep_in,
    pass_around,
    write_reproducer,
)
from actiondbg.session.past.replay import Place, Replay, logging, read_log, record_replay, replay_to
from actiondbg.session.runnable_session import End, StatisticKind
from actiondbg.session.scout import Scout
from actiondbg.tool import find_tool

if TYPE_CHECKING:
    from actiondbg.analysis.cycles import Applied, Cycle
    from actiondbg.analysis.legalization.explanation import Explanation
    from actiondbg.ir.diff import Diff

ANY = protocol.OutcomeFilter()
_STREAM = 20_000  # newest changing actions that are searched for a cycle
_REACH = 1_000_000  # newest actions, changing or not, among which they are
_UNFINISHED = 100_000  # changes of an unfinished action in which an operation is looked for
_SHOWN = 8  # actions of a cycle whose diffs are made


class Past:
    """Queries about the past of a run, answered by a replay in a fork.

    Every method raises NotStopped when the tool runs or was not started, and NoAnswer when the
    run cannot be replayed.
    """

    def __init__(
        self,
        executions: Executions,
        cursor: Cursor,
        values: ValueNames,
        replay: Replay,
        scout: Scout,
        names: Vocabulary,
    ) -> None:
        self._names = names
        self._values = values
        self._executions = executions
        self._cursor = cursor
        self._replay = replay
        self._scout = scout
        self._search = ActionSearch(replay)
        self._conversions = ConversionReplay(replay, values)

    def replay(self, ordinal: int, when: Side = "before") -> ForkedTool:
        """Make a fork of the tool that is stopped at a past action; close the fork.

        Args:
            ordinal: the action's number, from 1.
            when: "before" or "after" the action, which must have ended then.

        Raises:
            UsageError: the action has not begun, or has not ended.
        """
        self._replay.check_past(ordinal, when)
        return self._replay.fork_at(Place(ordinal, when))

    def statistics(self, kind: StatisticKind | None = None) -> list[protocol.Statistic]:
        """Count the attempts, outcomes and times of the actions of each tag and name in this run.

        Args:
            kind: patterns, passes or folds; None for all.

        Raises:
            UsageError: there is no such kind.
        """
        tag = None if kind is None else tag_of_kind(kind)
        rows = self._all_statistics()
        return rows if tag is None else [row for row in rows if row.tag == tag]

    def why_not(self, name: str, location: str | None = None, op_id: int | None = None) -> Attempts:
        """List all attempts of a pattern up to now, with their outcomes.

        Args:
            name: of the pattern, a glob.
            location: of the operations, such as "in.mlir:3"; None for any.
            op_id: of the operation; None for any.

        Returns:
            The attempts; empty for a pattern that was never tried.

        Raises:
            UsageError: the name is no glob, or the location no FILE:LINE.
        """
        terms = attempt_terms(name, location)
        with self._replay.log_file() as log:
            self._replay.log([logging(terms, ANY)], self._replay.now(), log).close()
            found = attempts_of(name, read_log(log), op_id)
        selected = location is not None or op_id is not None
        return msgspec.structs.replace(found, selected=selected)

    def contrast(
        self, attempts: PatternAttempts, others: Sequence[Example] = ()
    ) -> Contrast | None:
        """Compare a failure of a pattern without a reason with its successes, by a replay.

        Args:
            attempts: of the pattern, by ``why_not``; its newest failure without a reason is
                compared with all attempts of the same pattern.
            others: of other runs, by ``examples``.

        Returns:
            The differences; None if every failure has a reason.
        """
        failure = silent_failure(attempts.attempts)
        if failure is None:
            return None
        every = self.why_not(attempts.name) if attempts.selected else attempts
        own = neighbourhoods.observe(self._replay, attempts.name, every.attempts, failure)
        return neighbourhoods.contrast(failure, [*own, *others])

    def examples(self, name: str, run: str) -> list[Example]:
        """Return the successes of a pattern up to now, and its failures without a reason.

        Args:
            name: of the pattern, a glob.
            run: the name of this run, for another session's ``contrast``.
        """
        every = self.why_not(name).attempts
        return neighbourhoods.observe(self._replay, name, every, run=run)

    def explain(self, target: str | None = None) -> Explanation:
        """Explain why a dialect conversion failed, or why conversions left an operation.

        Args:
            target: "cursor", an id such as "@12", an SSA name at the stop such as "%3", or
                "op:GLOB" for all operations of a name; None for the conversion that failed, or the
                casts that are left.

        Raises:
            UsageError: the target is none of these.
            NoSuchUnit: there is no such value.
        """
        if target is None:
            return self._conversions.explain(None)
        wanted = parse_wanted(target)
        if isinstance(wanted, OperationGlob):
            return self._conversions.explain(target, glob=wanted.glob)
        id = self._cursor.operation_id(wanted)
        return self._conversions.explain(f"@{id}", id=id)

    def failure_return(self, attempt: Attempt) -> FailureReturn:
        """Find the place in the pattern's code from which an attempt returned, with gdb.

        Args:
            attempt: an attempt that has ended, by ``why_not``.

        Raises:
            UsageError: gdb is not installed, or could not attach.
            NoAnswer: the pattern's function is not known, or could not be followed.
        """
        self._replay.check_past(attempt.ordinal, "after")
        return find_return(self._executions, self._replay, attempt)

    def history(self, target: str = "cursor") -> History:
        """Return the history of an operation up to now.

        Args:
            target: "cursor", an id such as "@12", or an SSA name at the stop such as "%3".

        Raises:
            UsageError: the target is no operation.
            NotStopped: "cursor" or an SSA name is given, and the tool is not at a stop.
            NoSuchUnit: there has been no such operation.
        """
        id = self._cursor.operation_id(parse_operation(target))
        watch = protocol.Watch(kind="operation", id=id, exact=True)
        with self._replay.log_file() as log:
            passes = [protocol.Term(kind="tag", glob=PASS_TAG)]
            breakpoints = [logging([], watch=watch, id=1), logging(passes, id=2)]
            with self._replay.log(breakpoints, self._replay.now(), log) as fork:
                op = _name_of(fork, id)
            logged = list(read_log(log))
        lines = [line for line in logged if 1 in line.breakpoints]
        begun = [(line.ordinal, line.name) for line in logged if 2 in line.breakpoints]
        unfinished = self._unfinished()
        if op is None and not lines and all(each.change.id != id for each in unfinished):
            raise NoSuchUnit(f"There is no operation @{id} in this run up to now.")
        return history_of(id, op or "", lines, unfinished, begun)

    @contextlib.contextmanager
    def recorded(self, end: End = "now") -> Generator[Path]:
        """Yield the path of a recording of this run with its lineage, by a replay; removed then.

        Args:
            end: the ordinal of the action after which it ends; "now" for this stop, "end" for the
                end of the run.

        Raises:
            UsageError: the action is before this stop.
        """
        with self._replay.log_file() as path:
            record_replay(self._replay, path, end)
            yield path

    def diff(self, ordinal: int | None = None, module: bool = False) -> Diff:
        """Compare the IR before an action with the IR after it.

        Args:
            ordinal: the action, from 1; None for the action of the current stop after one.
            module: compare the whole module; otherwise the function that holds the action's
                operation, if it exists before and after the action.

        Returns:
            The difference, which is empty for a skipped action.

        Raises:
            UsageError: the action has not been dispatched, or has not ended.
        """
        if ordinal is None:
            ordinal = ended_action(self._executions.need_idle().stop, "tool")
        self._replay.check_past(ordinal, "after")
        return self._diff(self._replay.fork, ordinal, module, self._replay.skipped())

    def cycles(self) -> Cycle | None:
        """Find the cycle of actions that a greedy driver repeats endlessly.

        Returns:
            The actions of one round, the number of rounds, and the diffs of the first actions;
            None if there is no cycle up to now.
        """
        from actiondbg.analysis.cycles import Applied, find_cycle

        place = self._replay.now()
        recent = protocol.comparison("ordinal", ">", place.ordinal - _REACH)
        changed = protocol.OutcomeFilter(results=["changed"])
        breakpoints = [
            logging([protocol.Term(kind="tag", glob=tag)], changed, condition=recent, id=id)
            for id, tag in enumerate((PATTERN_TAG, FOLD_TAG), 1)
        ]
        with self._replay.log_file() as log:
            self._replay.log(breakpoints, place, log).close()
            newest = deque(read_log(log), maxlen=_STREAM)
        applied = [Applied(id=line.id, **protocol.ref_fields(line)) for line in newest]
        cut = len(applied) == _STREAM or place.ordinal > _REACH
        found = find_cycle(applied, cut=cut)
        if found is None:
            return None
        return msgspec.structs.replace(found, diffs=self._diffs(found.round[:_SHOWN]))

    def actions(
        self,
        spec: str | None = None,
        condition: str | None = None,
        *,
        changed: bool = False,
        first: int | None = None,
        count: int = 20,
    ) -> ActionList:
        """List actions of this timeline, before and after the stop; those after it by a look ahead.

        Args:
            spec: as of a breakpoint; None for all actions.
            condition: as of a breakpoint; None for none.
            changed: only actions that changed the IR.
            first: the ordinal to begin with; None for actions around the stop.
            count: the largest number of actions, from 1.

        Raises:
            UsageError: the SPEC or the condition has a syntax error.
        """
        outcome = "changed" if changed else None
        chosen = select(self._names, spec, condition, outcome=outcome)
        wanted = Wanted(chosen.terms, chosen.parsed_condition, chosen.parsed_outcome)
        return self._search.find(wanted, Window(first=first, count=count))

    def passes(self) -> list[ListedAction]:
        """List the passes of this timeline in their order, before and after the stop."""
        return self._search.find_all(Wanted([protocol.Term(kind="tag", glob=PASS_TAG)]))

    def reproducer(self, path: str | os.PathLike[str]) -> Reproducer:
        """Write the IR before the running or crashed pass, and its pipeline, to a file.

        Args:
            path: of the file; ``mlir-opt FILE --run-reproducer`` repeats the pass.

        Raises:
            UsageError: no pass runs, or the file is a recording.
            FileNotWritten: the file cannot be written.
        """
        return self._reproduce(self._running_pass(), Path(path))

    def keep_reproducer(self, directory: str | os.PathLike[str]) -> Reproducer:
        """Write the same as ``reproducer`` into a directory, unless an equal file is there.

        Args:
            directory: made if there is none; the file there is named as the pass.

        Raises:
            UsageError, FileNotWritten: see ``reproducer``.
        """
        frame = self._running_pass()
        file = self._executions.new_print()
        try:
            made = self._reproduce(frame, file)
            path, is_new = keep_in(Path(directory).absolute(), frame.name, file)
        finally:
            file.unlink(missing_ok=True)
        command = [str(path) if word == made.path else word for word in made.command]
        return msgspec.structs.replace(made, path=str(path), command=command, is_new=is_new)

    # --- helpers ---

    def _reproduce(self, frame: protocol.Frame, path: Path) -> Reproducer:
        with self._replay.fork_at(Place(frame.ordinal)) as fork:
            pipeline = fork.request(protocol.GetPipeline()).text
            file = self._executions.new_print()
            message = protocol.Print(what="module", path=str(file))
            with PrintedText(file, fork.request(message)) as printed:
                return write_reproducer(path, printed, pipeline, *self._stock_tool())

    def _stock_tool(self) -> tuple[Path | None, list[str]]:
        """Return the tool that runs here, and its command line.

        A program that has loaded MLIR, such as Python, is no tool that reads a file of it: None.
        """
        program = self._executions.program
        if not program.is_followed:
            return program.tool.path, program.argv
        current = self._executions.need_idle().program
        if current is None or not current.processes:
            return None, []
        process = current.current or current.processes[-1]
        try:
            executable = Path(f"/proc/{process.pid}/exe").readlink()
            has_mlir = find_tool(os.fspath(executable)).libmlir is not None
        except (OSError, LaunchError):
            return None, []
        return (executable, process.command) if has_mlir else (None, [])

    def excerpt_before(self, stop: Stop, message: protocol.GetExcerpt) -> protocol.Excerpt:
        """Return lines of IR as they were before the action of a stop.

        Args:
            stop: after an action.
            message: which lines.

        Raises:
            NoSuchUnit: there was no such operation.
        """
        new_file = self._executions.file
        event = event_before(stop.ordinal, stop.depth)
        with self._scout.fork(self._scout.nearest(event), []) as fork:
            fork.go(event)
            fork.check_same()
            access = NamedAccess(fork, self._values, lambda: new_file("names-before"))
            return access.ask(message)

    def changes(self, frame: int, nested: bool = True, limit: int = 1000) -> protocol.Changes:
        """List the changes of an action so far, also those that the tool did not keep.

        The tool keeps changes only while something may ask for them.

        Args:
            frame: the index of the action in the backtrace.
            nested: those of its nested actions too.
            limit: how many at most, the first ones.

        Raises:
            NoAnswer: the stop is inside an action, and no crash.
        """
        stop = self._executions.need_idle().stop
        if stop is not None and stop.when == "during" and not stop.is_crash:
            raise NoAnswer("A stop inside an action is not reached again: step to its end.")
        with self._replay.fork() as fork:
            catches = catches_on_wire([protocol.Catch(kind="crash")])
            fork.request(protocol.SetBreakpoints(breakpoints=catches))
            replay_to(fork, self._replay.now())
            if stop is not None and stop.when == "during":
                fork.resume("continue")
            fork.request(protocol.SelectFrame(index=frame))
            return fork.request(protocol.GetChanges(nested=nested, count=limit))

    def _unfinished(self) -> list[Unfinished]:
        stop = self._executions.need_idle().stop
        if stop is None or stop.when != "during" or not stop.ordinal:
            return []
        # Those of the selected action are listed, which may be one around it.
        around = self._executions.ask(protocol.GetAction()).ordinal != stop.ordinal
        made = self._executions.ask(protocol.GetChanges(nested=around, count=_UNFINISHED))
        own = [change for change in made.changes if change.ordinal == stop.ordinal]
        return [Unfinished(change, stop.tag, stop.name) for change in own]

    def _running_pass(self) -> protocol.Frame:
        execution = self._executions.need_idle()
        if execution.state == "stopped":
            return pass_around(self._executions.ask(protocol.GetFrames()).frames)
        if execution.stop is None or not execution.stop.ordinal:
            raise UsageError(
                "The tool did not end in a pass: stop in one with break, and repeat the command."
            )
        with self._replay.fork_at(self._replay.now()) as fork:
            return pass_around(fork.request(protocol.GetFrames()).frames)

    def _diffs(self, actions: list[Applied]) -> list[Diff]:
        """Return the diff of each action, from one fork stopped before all of them."""
        skipped = self._replay.skipped()
        with self._replay.fork_at(Place(min(one.ordinal for one in actions))) as first:
            return [self._diff(first.fork, one.ordinal, False, skipped) for one in actions]

    def _diff(
        self, make: Callable[[], ForkedTool], ordinal: int, module: bool, skipped: list[int]
    ) -> Diff:
        from actiondbg.process.action_diff import compare_action

        return compare_action(
            make,
            ordinal,
            self._executions.new_print,
            module=module,
            skipped=ordinal in skipped,
            names=self._values,
        )

    def _all_statistics(self) -> list[protocol.Statistic]:
        execution = self._executions.current
        if execution is None or execution.state != "exited":
            counted = self._executions.ask(protocol.GetStatistics())
            if not counted.uncounted:
                return counted.rows
        try:
            fork = self._replay.fork()
        except NoAnswer as error:
            raise NoAnswer(
                f"{error} Counts need no replay at a stop of a run that begins after "
                "'set count-actions on'."
            ) from error
        with fork:
            fork.request(protocol.SetOptions(count=True))
            replay_to(fork, self._replay.now())
            return fork.request(protocol.GetStatistics()).rows


def _name_of(fork: ForkedTool, id: int) -> str | None:
    """Return the name of an operation; None if it no longer exists."""
    with contextlib.suppress(AgentError):
        return fork.request(protocol.MoveCursor(to="id", index=id)).unit.name
    return None
