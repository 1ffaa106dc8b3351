"""A run compared with alternatives, each in a fork of the same stop."""

from __future__ import annotations

import itertools
import os
import weakref
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from actiondbg import protocol
from actiondbg.analysis.actions import ListedAction
from actiondbg.bisection.oracles import Oracle, OracleSetup, Predicate, TrialFiles, make_oracle
from actiondbg.bisection.trial import RunningTrial, ThreadPool
from actiondbg.bisection.verdict import Judgement, Verdict
from actiondbg.breakpoints.breakpoint import catches_on_wire
from actiondbg.breakpoints.resolution import resolve_spec
from actiondbg.errors import NotStopped, UsageError
from actiondbg.ir.diff import Diff, make_diff
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.tool_process import is_shared
from actiondbg.support.closeable import Closeable
from actiondbg.support.interrupts import signal_name
from actiondbg.support.scratch_directory import make_directory, remove_directory
from actiondbg.tool.command_line import CommandLine, inspect_command_line
from actiondbg.whatif.alternative_runs import (
    AlternativeRuns,
    RunEnd,
    check_pipelines,
    unmatched,
)
from actiondbg.whatif.alternatives import (
    Alternative,
    Change,
    ChangedBenefit,
    DroppedPass,
    Switch,
    parse_alternatives,
)
from actiondbg.whatif.pass_plan import PassPlan, find_pipeline

if TYPE_CHECKING:
    from actiondbg.process.execution import Execution
    from actiondbg.session.session import Session


OnProgress = Callable[[int, int], None]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One run."""

    alternative: str  # what it does otherwise, as commands take it
    end: str  # "exit", "until", or "timeout"
    status: int | None  # the exit status, negative for a signal; None without an exit
    message: str | None  # one sentence about the end; None at ``until``
    actions: int | None  # the number of actions of the whole run; None if unknown
    applied: int | None  # the number of patterns applied in the whole run; None if unknown
    seconds: float  # the time from the stop to the end
    # The number of operations of each name in the final IR; None if there is none, as after a
    # crash.
    operations: dict[str, int] | None
    verdict: Verdict | None = None  # of the oracle; None without one
    reason: str | None = None  # of the verdict
    unmatched: list[str] = []  # the changes for which there was no pattern or pass

    @property
    def end_text(self) -> str:
        """How the run ended, as a verb with its object."""
        if self.end == "timeout":
            return "took too long"
        if self.status is None:
            return "stopped at the pass"
        if self.status < 0:
            return f"died of {signal_name(-self.status)}"
        return f"ended with status {self.status}"


class AlternativesComparison(Closeable):
    """The run as it is and its alternatives; close it to remove the final IR of each.

    Attributes:
        rows: the run as it is, then the alternatives in their order.
        until: the pass after which the runs stopped, or None.
        judged: whether an oracle judged the runs.
        notes: about the places that were changed, one sentence each.
    """

    def __init__(
        self,
        rows: list[Row],
        files: list[Path],
        directory: Path,
        until: str | None,
        judged: bool,
        notes: Iterable[str] = (),
    ) -> None:
        self.rows = rows
        self.notes = list(dict.fromkeys(notes))
        self.until = until
        self.judged = judged
        self._files = files
        self._remove = weakref.finalize(self, remove_directory, directory)

    def close(self) -> None:
        """Remove the final IR of the runs."""
        self._remove()

    def differing(self) -> list[str]:
        """Return the names of the operations whose numbers differ, sorted."""
        counts = [row.operations for row in self.rows if row.operations is not None]
        names = {name for each in counts for name in each}
        return sorted(name for name in names if len({each.get(name, 0) for each in counts}) > 1)

    def diff(self, number: int) -> Diff:
        """Compare the final IR of an alternative, from 1, with that of the run as it is.

        Raises:
            UsageError: there is no such alternative, a run has no final IR, it is not text, or the
                comparison is closed.
        """
        self._check(number, least=1)
        if (why := self.without_ir(number)) is not None:
            raise UsageError(why)
        before, after = self.final_ir(0), self.final_ir(number)
        diff = make_diff(before, after, {}, {})
        return msgspec.structs.replace(diff, title=self.rows[number].alternative)

    def without_ir(self, number: int) -> str | None:
        """Return a sentence about the final IR that an alternative or the run as it is lacks.

        None if both have one.
        """
        return self._without_ir(0, number)

    def _without_ir(self, *numbers: int) -> str | None:
        lacking = [at for at in numbers if not self._has_ir(at)]
        if not lacking:
            return None
        ends = " and ".join(f"{self._title(at)} {self._end_without_ir(at)}" for at in lacking)
        return f"There is no final IR: {ends}."

    def _end_without_ir(self, number: int) -> str:
        row = self.rows[number]
        why = ", though the last pass manager of no module succeeded" if row.status == 0 else ""
        return row.end_text + why

    def _has_ir(self, number: int) -> bool:
        row = self.rows[number]
        is_whole = row.end == "until" or (row.status is not None and row.status >= 0)
        return is_whole and self._files[number].exists()

    def _title(self, number: int) -> str:
        return (
            f"alternative {number}, {self.rows[number].alternative},"
            if number
            else ("the run as it is")
        )

    def as_json(self) -> dict[str, object]:
        """Return the rows with stable keys."""
        return {
            "until": self.until,
            "rows": [msgspec.to_builtins(row) for row in self.rows],
            "differing": self.differing(),
        }

    def _check(self, number: int, least: int) -> None:
        if not self._remove.alive:
            raise UsageError(
                "The comparison is closed, and its final IR is removed: compare again."
            )
        most = len(self.rows) - 1
        if not least <= number <= most:
            raise UsageError(
                f"There is no alternative {number}: their numbers are {least} to {most}."
            )

    def final_ir(self, number: int) -> str:
        """Return the final IR of a run, as ``diff`` compares it; 0 is the run as it is.

        Raises:
            UsageError: there is no such run, it has no final IR, as after a crash, that is not
                text, or the comparison is closed.
        """
        self._check(number, least=0)
        if (why := self._without_ir(number)) is not None:
            raise UsageError(why)
        try:
            return self._files[number].read_bytes().decode()
        except UnicodeDecodeError as error:
            raise UsageError(
                "The tool writes binary output, which cannot be compared as IR: let it write text, "
                "or stop the alternatives at a pass with --until."
            ) from error


def compare(
    session: Session,
    alternatives: Sequence[Alternative | str] | str,
    *,
    until: str | None = None,
    oracle: Oracle | Predicate | str | None = None,
    jobs: int = 1,
    timeout: float | None = None,
    progress: OnProgress | None = None,
) -> AlternativesComparison:
    """Run alternatives, and the run as it is, from the stop of a session; the session is unchanged.

    Args:
        session: a stopped one.
        alternatives: objects, or texts such as ``"pattern:FoldX off; drop cse"``.
        until: the name of the pass after whose next run the alternatives stop; None for the end.
        oracle: judges the final IR, as in a bisection; a string is a command of the shell.
        jobs: how many run at a time.
        timeout: the limit for each in seconds; None for none.
        progress: called with the numbers of the runs that have ended, and of all.

    Raises:
        NotStopped: the tool is not stopped.
        UsageError: an alternative has a syntax error, names an unknown pass in a pipeline or no
            pass ahead, or is the only one and changes nothing; or the run as it is ends before
            ``until``.
        OracleError: the oracle cannot judge.
    """
    wanted = _parsed(alternatives)
    execution = session.execution
    if execution is None or execution.state != "stopped":
        raise NotStopped("Alternatives begin at a stop: start the tool, and stop it where they do.")
    line = inspect_command_line(session.target.argv, session.target.directory)
    _check_output(execution, line, session.target.directory)
    directory = make_directory()
    try:
        judge = None if oracle is None else _Judge(make_oracle(oracle), session, line, directory)
        with _freeze(execution, judge) as start:
            check_pipelines(start, wanted)
            each = AlternativeRuns(
                start,
                execution.branches.request(),
                names_output=line.output is not None,
                is_shared=is_shared(session.target.streams.stdout),
                until=until,
                seconds=timeout,
                catches=judge.catches() if judge else (),
            )
            runs = _Runs(each, directory, judge)
            if any(one.names_places for one in wanted):
                runs.plan(wanted, session.past.passes())
            made = runs.run([Alternative(), *wanted], jobs, progress)
        rows, files = [row for row, _ in made], [file for _, file in made]
        _check_rows(rows, wanted, until, session)
        return AlternativesComparison(rows, files, directory, until, judge is not None, runs.notes)
    except BaseException:
        remove_directory(directory)
        raise


def _parsed(alternatives: Sequence[Alternative | str] | str) -> list[Alternative]:
    given = [alternatives] if isinstance(alternatives, str) else alternatives
    found: list[Alternative] = []
    for one in given:
        found += parse_alternatives(one) if isinstance(one, str) else [one]
    if not found:
        parse_alternatives("")  # raises
    return found


def _check_output(execution: Execution, line: CommandLine, cwd: Path | None) -> None:
    """Refuse a tool that opens its output file later: each fork would overwrite it."""
    if line.output is None:
        return
    name = line.argv[line.output].partition("=")[2] or line.argv[line.output]
    target = os.path.realpath((cwd or Path.cwd()) / name)
    folder = Path(f"/proc/{execution.pid}/fd")
    try:
        opened = {os.path.realpath(each) for each in folder.iterdir()}
    except OSError:
        return  # it has just ended, which a request will tell
    if target not in opened and target != os.devnull:
        raise UsageError(
            f"The tool has not opened its output file {name!r} at this stop, so that alternatives "
            "would overwrite it: leave -o out."
        )


def _freeze(execution: Execution, judge: _Judge | None) -> ForkedTool:
    """Fork the stop; the fork is never resumed."""
    start = execution.fork(protocol.Fork(role="checkpoint"))
    try:
        start.request(protocol.SetBreakpoints(breakpoints=judge.catches() if judge else []))
    except BaseException:
        start.close()
        raise
    return start


def _check_rows(
    rows: list[Row], wanted: list[Alternative], until: str | None, session: Session
) -> None:
    if until is not None and rows[0].end == "exit":
        raise UsageError(
            f"The run does not reach the end of a pass {until!r} from this stop: 'info passes' "
            "lists the passes ahead."
        )
    unused = rows[1].unmatched
    if len(wanted) == 1 and unused and len(unused) == len(wanted[0].changes):
        raise UsageError(unmatched_sentence(unused, session))


def unmatched_sentence(changes: Sequence[str], session: Session) -> str:
    """Return sentences about changes that changed nothing, with similar names."""
    found = [one for each in changes for one in parse_alternatives(each)[0].changes]
    return " ".join(_unmatched(change, session) for change in found)


def _unmatched(change: Change, session: Session) -> str:
    where = ""
    if isinstance(change, DroppedPass):
        name = change.reference.name
        what, spec, verb = f"pass {name!r}", f"pass:{name}", "runs"
        listing = "'info pipeline' lists the passes."
    else:
        assert isinstance(change, Switch | ChangedBenefit)
        if isinstance(change, Switch):
            kind, name = change.kind, change.name
            where = "" if change.inside is None else f" in {change.inside}"
        else:
            kind, name = "pattern", change.pattern
        what, spec = f"{kind} {name!r}", f"{kind}:{name}"
        verb = "is tried" if kind == "pattern" else "is found"
        listing = "'info applicable --patterns' lists those of a pass."
    pending = resolve_spec(spec, session.names).unresolved.clause or ""
    similar = pending.partition("; ")[2]
    rest = f"; {similar}" if similar and not where else f". {listing}"
    return f"No {what} {verb}{where} from this stop on{rest}"


class _Judge:
    """An oracle, prepared for a session's tool."""

    def __init__(
        self, oracle: Oracle, session: Session, line: CommandLine, directory: Path
    ) -> None:
        folder = directory / "oracle"
        folder.mkdir()
        self._oracle = oracle
        self._setup = OracleSetup(
            tool=session.target.tool.path,
            argv=session.target.argv,
            input=line.input,
            cwd=session.target.directory,
            directory=folder,
            seconds=None,
        )
        oracle.prepare(self._setup)

    def catches(self) -> list[protocol.WireBreakpoint]:
        """Return what the oracle catches."""
        return catches_on_wire(self._oracle.catches)

    def judge(self, end: RunEnd, running: RunningTrial) -> Judgement:
        """Judge a run by what was caught, by its end, or by its final IR."""
        stop = end.caught or end.stop
        if end.caught is None and stop is not None and stop.when != "exit":
            if self._oracle.is_event:
                return Judgement("good", "it did not happen")
            return self._oracle.judge_output(end.output, running.commands, self._setup)
        evidence = TrialFiles(end.output, end.errors, stop)
        return self._oracle.judge(evidence, running.commands, self._setup)


class _Runs:
    """Runs alternatives in threads."""

    def __init__(self, each: AlternativeRuns, directory: Path, judge: _Judge | None) -> None:
        self._each = each
        self._directory = directory
        self._judge = judge
        self._numbers = itertools.count()
        # Sentences about the places of the pipeline that the alternatives change.
        self.notes: list[str] = []
        self._plans: dict[Alternative, PassPlan] = {}
        self._begun: list[ListedAction] = []

    def plan(self, alternatives: Iterable[Alternative], runs: list[ListedAction]) -> None:
        """Plan the changes of single places; ``runs`` are all passes of the timeline.

        Raises:
            UsageError: a change names no pass ahead, or cannot be made.
        """
        pipeline = find_pipeline(self._each.start, self._each.skips, runs)
        self._begun = [run for run in runs if run.ordinal < pipeline.first]
        plans = {one: PassPlan(one, pipeline) for one in alternatives if one.names_places}
        self.notes = [note for plan in plans.values() for note in plan.notes]
        self._plans = {one: plan for one, plan in plans.items() if one.is_placed}

    def run(
        self, alternatives: list[Alternative], jobs: int, progress: OnProgress | None
    ) -> list[tuple[Row, Path]]:
        """Run all; return the rows and the files of the final IR, in the same order."""
        pool = ThreadPool(self._new_trial, self._run, jobs)
        found: dict[int, tuple[Row, Path]] = {}
        waiting = list(enumerate(alternatives))[::-1]
        count = 0
        try:
            while len(found) < len(alternatives):
                while waiting and count - len(found) < jobs:
                    number, alternative = waiting.pop()
                    pool.submit(number, alternative)
                    count += 1
                number, result = pool.wait()
                found[number] = result
                if progress is not None:
                    progress(len(found), len(alternatives))
        finally:
            pool.close()
        return [found[number] for number in range(len(alternatives))]

    def _new_trial(self) -> RunningTrial:
        return RunningTrial(self._directory / f"w{next(self._numbers)}")

    def _run(self, alternative: Alternative, running: RunningTrial) -> tuple[Row, Path]:
        try:
            plan = self._plans.get(alternative)
            end = self._each.run(alternative, running, plan, self._begun)
            judged = None if self._judge is None else self._judge.judge(end, running)
        finally:
            running.close()
        return _row(alternative, end, judged), end.ir


def _row(alternative: Alternative, end: RunEnd, judged: Judgement | None) -> Row:
    stop = end.stop
    is_end = stop is not None and stop.when == "exit"
    return Row(
        alternative=alternative.text,
        end="timeout" if stop is None else "exit" if is_end else "until",
        status=stop.status if stop is not None and is_end else None,
        message=stop.message if stop is not None and is_end else None,
        actions=end.actions,
        applied=end.census.applied if end.census else None,
        seconds=end.seconds,
        operations=(end.census.operations or None) if end.census else None,
        verdict=judged.verdict if judged else None,
        reason=judged.reason if judged else None,
        unmatched=[Alternative((one,)).text for one in unmatched(alternative.changes, end.census)],
    )
