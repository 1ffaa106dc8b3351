"""Saving what was skipped, and skipping it again in another run."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

import msgspec

from actiondbg import protocol
from actiondbg.errors import SkipMismatch, ToolGone, UsageError
from actiondbg.process.execution import Execution
from actiondbg.process.stop import Stop
from actiondbg.process.timeline import Skipped, skipped_at
from actiondbg.session.agent_breakpoints import AgentBreakpoints
from actiondbg.session.executions import Executions
from actiondbg.session.past.replay import Place, Replay, logging, read_log
from actiondbg.session.scout import Scout, is_planned, skip
from actiondbg.session.skip_file import Head, SkipEntry, read_skips, what_of, write_skips
from actiondbg.tool.program import Program

_BARRIER = 1 << 30  # the id of a breakpoint that no user can have made


@dataclass(frozen=True)
class Misfit:
    """Where a replay of skips ends.

    Attributes:
        message: which entry does not fit, and why.
        entries: that one, and all after it.
        stop: where the tool is to stop; None for its end.
    """

    message: str
    entries: list[SkipEntry]
    stop: Stop | None


class SkipPlan:
    """What is skipped in each run: loaded from files, found again, and saved.

    A fork finds out where the entries of a file are, before the tool comes there: an entry is at
    its ordinal, if the action there is the saved one, else where the same action comes for the
    ``nth`` time. If there is none, the tool stops where the entry was expected.

    Args:
        program: the command line, which is saved with the skips.
        executions: the processes of the tool.
        breakpoints: of the agent; a barrier among them stops the tool where a replay ends.
        scout: forks that look ahead.
        replay: repeats the run.
    """

    def __init__(
        self,
        program: Program,
        executions: Executions,
        breakpoints: AgentBreakpoints,
        scout: Scout,
        replay: Replay,
    ) -> None:
        self._program = program
        self._executions = executions
        self._breakpoints = breakpoints
        self._scout = scout
        self._replay = replay
        self._loaded: list[SkipEntry] = []  # skipped in each run
        self._unplaced: list[SkipEntry] = []  # looked for at the next stop
        self._placed: list[tuple[Skipped, SkipEntry]] = []
        self._misfit: Misfit | None = None
        breakpoints.add_barriers(self._barrier)

    def save(self, path: str | os.PathLike[str]) -> int:
        """Write what is skipped on this timeline.

        Returns:
            How many actions that are.

        Raises:
            FileNotWritten: the file cannot be written.
        """
        run = self._executions.need_idle()
        entries = self._numbered(run, run.branches.skips())
        head = Head(
            tool=str(self._program.tool.path),
            argv=self._program.argv,
            build=self._program.tool.build_id,
        )
        write_skips(path, head, entries)
        return len(entries)

    def load(self, path: str | os.PathLike[str]) -> int:
        """Skip in this run, and in later ones, what was saved.

        Returns:
            How many actions are read. Whether they are there is told when the run gets there, by
            a SkipMismatch of what lets the tool go on.

        Raises:
            UsageError: the file cannot be read, or holds an action that is over.
        """
        entries = read_skips(path)
        run = self._executions.current
        if run is not None and run.state != "exited":
            self._check_to_come(entries)
            self._unplaced = [
                *self._unplaced,
                *self._to_come(self._executions.need_idle(), entries),
            ]
        self._loaded += entries
        self.place()
        return len(entries)

    # --- runs ---

    def begin_run(self) -> bool:
        """Plan anew, in a new run; return whether anything is to be skipped."""
        self._unplaced, self._placed, self._misfit = list(self._loaded), [], None
        return bool(self._unplaced)

    def replan(self, planned: list[int]) -> None:
        """Look anew for what was planned at these ordinals: another answer was given."""
        again = [entry for action, entry in self._placed if action.ordinal in planned]
        again += self._misfit.entries if self._misfit else []
        if again:
            self._unplaced, self._misfit = again, None
            self.place()

    @property
    def ends_ahead(self) -> bool:
        """Whether a replay of skips ends at a stop ahead."""
        return self._misfit is not None

    def limit(self, event: int) -> int:
        """Return the event, or that at which the replay of skips ends, if it comes before."""
        if self._misfit is not None and self._misfit.stop is not None:
            return min(event, self._misfit.stop.event)
        return event

    def update(self, stop: Stop) -> Stop:
        """Look at a stop: the replay may end here.

        Raises:
            SkipMismatch: it does.
        """
        if self._misfit is not None and _is_at(stop, self._misfit):
            self._end_replay(stop, self._misfit.message)
        if stop.when == "exit" and self._unplaced:
            self._end_replay(stop, _nothing_there(self._unplaced[0], stop.actions))
        self.place()
        return stop

    def send(self) -> None:
        """Send the agent the ordinals that are skipped on the timeline."""
        execution = self._executions.need()
        execution.request(protocol.SetSkips(ordinals=execution.branches.ordinals()))

    def _barrier(self) -> list[protocol.WireBreakpoint]:
        stop = self._misfit.stop if self._misfit else None
        return [] if stop is None else [_barrier_at(stop)]

    # --- the end of a replay ---

    def _end_replay(self, stop: Stop, message: str) -> None:
        """Say that a replay goes no further; what follows is the user's."""
        self._misfit, self._unplaced = None, []
        run = self._executions.need()
        hit = [number for number in stop.breakpoints if number != _BARRIER]
        reason = stop.reason if hit or stop.reason != "breakpoint" else "until"
        run.stop = msgspec.structs.replace(stop, breakpoints=hit, reason=reason)
        self._breakpoints.send()
        raise SkipMismatch(message)

    # --- where entries are ---

    def _check_to_come(self, entries: list[SkipEntry]) -> None:
        run = self._executions.need_idle()
        skipped = run.branches.ordinals()
        newest = self._executions.ask(protocol.GetStatus()).ordinal
        stop = run.stop
        is_before = stop is not None and stop.when == "before"
        over = [
            one.ordinal
            for one in entries
            if one.ordinal not in skipped
            and (one.ordinal < newest or (one.ordinal == newest and not is_before))
        ]
        if over:
            raise UsageError(
                f"The action #{over[0]} is over, and was not skipped: go back to it with "
                f"'goto #{over[0]}', or start the tool again."
            )

    def _to_come(self, run: Execution, entries: list[SkipEntry]) -> list[SkipEntry]:
        skipped = run.branches.ordinals()
        return [one for one in entries if one.ordinal not in skipped]

    def place(self) -> None:
        """Find out where the entries are that were not looked for yet, and plan to skip them."""
        run = self._executions.current
        if not self._unplaced or run is None or run.state != "stopped":
            return
        planned = [(action, entry) for action, entry in self._placed if is_planned(run, action)]
        entries = [*(entry for _, entry in planned), *self._unplaced]
        placed, misfit = self._fit(run, entries)
        run.branches.plan(action for action, _ in placed)
        self._placed, self._misfit, self._unplaced = placed, misfit, []
        self.send()
        if misfit is None:
            return
        self._breakpoints.send()
        if run.stop is not None and _is_at(run.stop, misfit):
            self._end_replay(run.stop, misfit.message)

    def _fit(
        self, run: Execution, entries: list[SkipEntry]
    ) -> tuple[list[tuple[Skipped, SkipEntry]], Misfit | None]:
        """Find out where entries are, up to the first that is nowhere."""
        wanted = {entry: entry.ordinal for entry in entries}
        looked: set[SkipEntry] = set()
        while True:
            placed, entry, stop, last = self._try(run, wanted)
            if entry is None:
                return placed, None
            ordinal = None if entry in looked else self._find(run, entry, placed)
            looked.add(entry)
            if ordinal is None:
                rest = [one for one in entries if one not in {it for _, it in placed}]
                message = _not_there(entry, stop) if stop else _nothing_there(entry, last)
                return placed, Misfit(message, rest, stop or self._last_stop(run, placed))
            wanted[entry] = ordinal

    def _try(
        self, run: Execution, wanted: dict[SkipEntry, int]
    ) -> tuple[list[tuple[Skipped, SkipEntry]], SkipEntry | None, Stop | None, int | None]:
        """Repeat the run with entries skipped where they are wanted.

        Returns:
            Those that are there, the first that is not, what is there instead, and, if the tool
            ended before, how many actions there were.
        """
        placed: list[tuple[Skipped, SkipEntry]] = []
        with self._scout.fork_with_skips(wanted.values()) as replica:
            for entry, ordinal in sorted(wanted.items(), key=lambda item: item[1]):
                try:
                    stop = replica.advance(ordinal)
                except ToolGone:
                    actions = replica.exited.actions if replica.exited else None
                    return placed, entry, None, actions
                if what_of(skipped_at(stop)) != entry.what:
                    return placed, entry, stop, None
                placed.append((skipped_at(stop), entry))
        return placed, None, None, None

    def _find(
        self, run: Execution, entry: SkipEntry, placed: list[tuple[Skipped, SkipEntry]]
    ) -> int | None:
        """Find where the action that was meant comes for the nth time, after here."""
        if not entry.nth or not run.has_origin:
            return None
        with self._scout.fork(run.origin, [_stopping(entry)]) as replica:
            skip(replica, run, (action.ordinal for action, _ in placed))
            number = 0
            while (stop := replica.complete()).when != "exit":
                number += stop.when == "before" and what_of(skipped_at(stop)) == entry.what
                if number == entry.nth:
                    return stop.ordinal if self._is_to_come(run, stop) else None
        return None

    def _is_to_come(self, run: Execution, stop: Stop) -> bool:
        here = run.stop
        if here is None:
            return True
        return stop.event > here.event or (stop.event == here.event and here.when == "before")

    def _last_stop(self, run: Execution, placed: list[tuple[Skipped, SkipEntry]]) -> Stop | None:
        """Return the last stop before the end of the tool, as it goes on from here."""
        ordinals = [action.ordinal for action, _ in placed]
        with self._scout.fork_with_skips(ordinals) as replica:
            end = replica.complete()
        if not end.event or run.stop is None or end.event <= run.stop.event:
            return None
        with self._scout.fork_with_skips(ordinals) as replica:
            return replica.go(end.event)

    # --- numbers ---

    def _numbered(self, run: Execution, actions: list[Skipped]) -> list[SkipEntry]:
        """Count which of their like they are."""
        numbers: dict[int, int] = {}
        if actions and run.has_origin:
            numbers = self._count_like(actions)
        return [
            SkipEntry(
                ordinal=one.ordinal,
                tag=one.tag,
                name=one.name,
                location=one.location,
                function=one.function,
                nth=numbers.get(one.ordinal, 0),
            )
            for one in actions
        ]

    def _count_like(self, actions: list[Skipped]) -> dict[int, int]:
        kinds = list(dict.fromkeys(what_of(one) for one in actions))
        breakpoints = [logging(_terms(*kind), id=id) for id, kind in enumerate(kinds, 1)]
        counts = dict.fromkeys(kinds, 0)
        numbers: dict[int, int] = {}
        with self._replay.log_file() as log:
            self._replay.log(breakpoints, Place(actions[-1].ordinal), log).close()
            seen: set[int] = set()
            for line in read_log(log):
                kind = (line.tag, line.name, line.location, line.function)
                if kind in counts and line.ordinal not in seen:
                    seen.add(line.ordinal)
                    counts[kind] += 1
                    numbers[line.ordinal] = counts[kind]
        return numbers


def _is_at(stop: Stop, misfit: Misfit) -> bool:
    if stop.when == "exit":
        return True
    return misfit.stop is not None and stop.event >= misfit.stop.event


def _barrier_at(stop: Stop) -> protocol.WireBreakpoint:
    term = protocol.Term(kind="ordinal", ordinal=stop.ordinal)
    return _wire(_BARRIER, [term], after=stop.when == "after")


def _stopping(entry: SkipEntry) -> protocol.WireBreakpoint:
    return _wire(1, _terms(*entry.what), after=False)


def _wire(id: int, terms: list[protocol.Term], after: bool) -> protocol.WireBreakpoint:
    return protocol.WireBreakpoint(
        id=id,
        enabled=True,
        temporary=False,
        after=after,
        ignore=0,
        terms=terms,
        condition=None,
    )


def _terms(tag: str, name: str, location: str | None, function: str | None) -> list[protocol.Term]:
    """Return terms that hold for all actions that are the same, and for few others."""
    terms = [protocol.Term(kind="tag", glob=_escaped(tag))]
    if tag == "apply-pattern" and name:
        terms.append(protocol.Term(kind="pattern", glob=_escaped(name)))
    if function is not None:
        terms.append(protocol.Term(kind="func", glob=_escaped(function)))
    match = re.fullmatch(r"(.+):([0-9]+):([0-9]+)", location or "")
    if match:
        path, line, column = match[1], int(match[2]), int(match[3])
        if line:
            terms.append(protocol.Term(kind="location", path=path, line=line, column=column))
    return terms


def _escaped(text: str) -> str:
    return re.sub(r"([*?\[\]{}\\])", r"\\\1", text)


def _not_there(entry: SkipEntry, stop: Stop) -> str:
    there = _words(stop.ordinal, stop.tag, stop.name, stop.location, stop.function)
    return f"{_meant(entry)} does not fit: there is {there}, and {_no_other(entry)}."


def _nothing_there(entry: SkipEntry, actions: int | None) -> str:
    ended = "the tool ends before" if actions is None else f"there are only {actions} actions"
    return f"{_meant(entry)} does not fit: {ended}, and {_no_other(entry)}."


def _meant(entry: SkipEntry) -> str:
    return f"The skip of {_words(entry.ordinal, *entry.what)}"


def _no_other(entry: SkipEntry) -> str:
    return f"the one meant comes fewer than {entry.nth} times" if entry.nth else "none is like it"


def _words(ordinal: int, tag: str, name: str, location: str | None, function: str | None) -> str:
    words = f"#{ordinal} {tag} ({name or 'nameless'})"
    words += f" in @{function}" if function else ""
    return words + (f" at {location}" if location else "")
