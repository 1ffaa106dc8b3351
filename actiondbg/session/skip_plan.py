"""The skip plan of a session: saved skips, their files, and their replay in other runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from actiondbg import protocol
from actiondbg.errors import SkipMismatch, ToolGone, UsageError
from actiondbg.process.branches import Skipped, skipped_at
from actiondbg.process.execution import Execution
from actiondbg.process.stop import Stop
from actiondbg.session.breakpoints import AgentBreakpoints
from actiondbg.session.executions import Executions
from actiondbg.session.occurrences import (
    SavedAction,
    find_nth,
    numbers_of,
    stopping_at,
    why_not_found,
)
from actiondbg.session.past.replay import Replay
from actiondbg.session.scout import Scout, is_planned, skip
from actiondbg.session.skip_rules import SkipRules
from actiondbg.support.counts import counted
from actiondbg.support.decoders import json_bytes
from actiondbg.support.output_file import write_file

_BARRIER = 1 << 30  # a breakpoint id above all of the user's


@dataclass(frozen=True)
class Mismatch:
    """The end of a replay of skips, at an entry that matches no action."""

    message: str  # the error for the user
    entries: list[SkipEntry]  # the entry without a match, and all later ones
    stop: Stop | None  # where the tool has to stop; None for its end


class SkipPlan:
    """The skips of each run: loaded from files, located in the run, and saved.

    A scout fork locates the entries of a file before the tool reaches them: at the saved ordinal,
    if the action there is the saved one, otherwise at the ``nth`` occurrence of the saved action.
    If neither exists, the tool stops at the saved ordinal.
    """

    def __init__(
        self,
        executions: Executions,
        breakpoints: AgentBreakpoints,
        scout: Scout,
        replay: Replay,
        rules: SkipRules,
    ) -> None:
        self.rules = rules
        self._executions = executions
        self._breakpoints = breakpoints
        self._scout = scout
        self._replay = replay
        self._loaded: list[SkipEntry] = []  # skipped in each run
        self._pending: list[SkipEntry] = []  # located at the next stop
        self._located: list[tuple[Skipped, SkipEntry]] = []
        self._mismatch: Mismatch | None = None
        breakpoints.barriers.append(self._barrier)

    def save(self, path: str | os.PathLike[str]) -> int:
        """Write the skips of this timeline, and the standing rules, to a file.

        Returns:
            The number of skips and rules.

        Raises:
            FileNotWritten: the file cannot be written.
            UsageError: it is a recording, which stays as it is.
        """
        execution = self._executions.need_idle()
        entries = self._numbered(execution, execution.branches.skips())
        program = self._executions.program
        head = Head(tool=str(program.tool.path), argv=program.argv, build=program.tool.build_id)
        rules = [RuleEntry(rule=one.spec, condition=one.condition) for one in self.rules.all()]
        write_skips(path, head, entries, rules)
        return len(entries) + len(rules)

    def load(self, path: str | os.PathLike[str]) -> int:
        """Apply the skips and the rules of a file in this run and in later ones.

        An entry that matches no action raises SkipMismatch later, from the control that reaches
        it.

        Returns:
            The number of skips and rules in the file.

        Raises:
            UsageError: the file cannot be read, or holds an action that has ended.
        """
        entries, rules = read_skips(path)
        execution = self._executions.current
        if execution is not None and execution.state != "exited":
            self._check_ahead(entries)
            skipped = self._executions.need_idle().branches.ordinals()
            self._pending = [
                *self._pending,
                *(one for one in entries if one.ordinal not in skipped),
            ]
        self._loaded += entries
        self.locate()
        for one in rules:
            self.rules.add(one.rule, one.condition)
        return len(entries) + len(rules)

    # --- runs ---

    def begin_run(self) -> bool:
        """Restart the plan for a new run; return whether it has skips."""
        self._pending, self._located, self._mismatch = list(self._loaded), [], None
        return bool(self._pending)

    def replan(self, planned: list[int]) -> None:
        """Locate the entries planned at these ordinals again, after another control."""
        again = [entry for action, entry in self._located if action.ordinal in planned]
        again += self._mismatch.entries if self._mismatch else []
        if again:
            self._pending, self._mismatch = again, None
            self.locate()

    @property
    def ends_ahead(self) -> bool:
        """Whether the replay of skips ends ahead."""
        return self._mismatch is not None

    def limit(self, event: int) -> int:
        """Return the event, or the earlier one where the replay of skips ends."""
        if self._mismatch is not None and self._mismatch.stop is not None:
            return min(event, self._mismatch.stop.event)
        return event

    def update(self, stop: Stop) -> Stop:
        """End the replay of skips at a stop, if an entry matches no action there.

        Raises:
            SkipMismatch: the replay ends.
        """
        if self._mismatch is not None and _is_at(stop, self._mismatch):
            self._end_replay(stop, self._mismatch.message)
        if stop.when == "exit" and self._pending:
            self._end_replay(stop, _missing_action(self._pending[0], stop.actions))
        self.locate()
        return stop

    def _barrier(self) -> list[protocol.WireBreakpoint]:
        stop = self._mismatch.stop if self._mismatch else None
        if stop is None:
            return []
        terms = [protocol.Term(kind="ordinal", ordinal=stop.ordinal)]
        return [protocol.WireBreakpoint(id=_BARRIER, after=stop.when == "after", terms=terms)]

    # --- the end of a replay ---

    def _end_replay(self, stop: Stop, message: str) -> None:
        """End the replay of skips with an error; later actions are not skipped."""
        self._mismatch, self._pending = None, []
        execution = self._executions.need()
        hit = [number for number in stop.breakpoints if number != _BARRIER]
        reason = stop.reason if hit or stop.reason != "breakpoint" else "until"
        execution.stop = msgspec.structs.replace(stop, breakpoints=hit, reason=reason)
        self._breakpoints.send()
        raise SkipMismatch(message)

    # --- location of entries ---

    def _check_ahead(self, entries: list[SkipEntry]) -> None:
        execution = self._executions.need_idle()
        skipped = execution.branches.ordinals()
        newest = self._executions.ask(protocol.GetStatus()).ordinal
        stop = execution.stop
        is_before = stop is not None and stop.when == "before"
        over = [
            one.ordinal
            for one in entries
            if one.ordinal not in skipped
            and (one.ordinal < newest or (one.ordinal == newest and not is_before))
        ]
        if over:
            raise UsageError(
                f"The action #{over[0]} has ended, and was not skipped: go back with "
                f"'goto #{over[0]}', or start the tool again."
            )

    def locate(self) -> None:
        """Locate the pending entries, and plan their skips."""
        execution = self._executions.current
        if not self._pending or execution is None or execution.state != "stopped":
            return
        planned = [
            (action, entry) for action, entry in self._located if is_planned(execution, action)
        ]
        entries = [*(entry for _, entry in planned), *self._pending]
        located, mismatch = self._locate_entries(execution, entries)
        execution.branches.plan(action for action, _ in located)
        self._located, self._mismatch, self._pending = located, mismatch, []
        execution.send_skips()
        if mismatch is None:
            return
        self._breakpoints.send()
        if execution.stop is not None and _is_at(execution.stop, mismatch):
            self._end_replay(execution.stop, mismatch.message)

    def _locate_entries(
        self, execution: Execution, entries: list[SkipEntry]
    ) -> tuple[list[tuple[Skipped, SkipEntry]], Mismatch | None]:
        """Locate entries, up to the first that matches no action."""
        wanted = {entry: entry.ordinal for entry in entries}
        looked: set[SkipEntry] = set()
        while True:
            located, entry, stop, last = self._check_ordinals(execution, wanted)
            if entry is None:
                return located, None
            ordinal = None if entry in looked else self._find_nth(execution, entry, located)
            looked.add(entry)
            if ordinal is None:
                rest = [one for one in entries if one not in {it for _, it in located}]
                message = _other_action(entry, stop) if stop else _missing_action(entry, last)
                return located, Mismatch(message, rest, stop or self._last_stop(execution, located))
            wanted[entry] = ordinal

    def _check_ordinals(
        self, execution: Execution, wanted: dict[SkipEntry, int]
    ) -> tuple[list[tuple[Skipped, SkipEntry]], SkipEntry | None, Stop | None, int | None]:
        """Replay the run with entries skipped at the given ordinals.

        Returns:
            The entries that match, the first that does not, the stop at its ordinal, and, if the
            tool ended earlier, the number of actions.
        """
        located: list[tuple[Skipped, SkipEntry]] = []
        with self._scout.fork_with_skips(wanted.values()) as fork:
            for entry, ordinal in sorted(wanted.items(), key=lambda item: item[1]):
                try:
                    stop = fork.advance(ordinal)
                except ToolGone:
                    actions = fork.exited.actions if fork.exited else None
                    return located, entry, None, actions
                if not entry.matches(stop):
                    return located, entry, stop, None
                located.append((skipped_at(stop), entry))
        return located, None, None, None

    def _find_nth(
        self, execution: Execution, entry: SkipEntry, located: list[tuple[Skipped, SkipEntry]]
    ) -> int | None:
        """Return the ordinal of the nth occurrence of an entry's action, if it is ahead."""
        if not entry.nth or not execution.has_origin:
            return None
        with self._scout.fork(execution.origin, [stopping_at(entry.what)]) as fork:
            skip(fork, execution, (action.ordinal for action, _ in located))
            stop = find_nth(fork, entry)
        return stop.ordinal if stop is not None and self._is_ahead(execution, stop) else None

    def _is_ahead(self, execution: Execution, stop: Stop) -> bool:
        here = execution.stop
        if here is None:
            return True
        return stop.event > here.event or (stop.event == here.event and here.when == "before")

    def _last_stop(
        self, execution: Execution, located: list[tuple[Skipped, SkipEntry]]
    ) -> Stop | None:
        """Return the last stop before the end of the tool."""
        ordinals = [action.ordinal for action, _ in located]
        with self._scout.fork_with_skips(ordinals) as fork:
            end = fork.complete()
        if not end.event or execution.stop is None or end.event <= execution.stop.event:
            return None
        with self._scout.fork_with_skips(ordinals) as fork:
            return fork.go(end.event)

    # --- numbers ---

    def _numbered(self, execution: Execution, actions: list[Skipped]) -> list[SkipEntry]:
        """Return entries with their numbers among equal actions."""
        numbers: dict[int, int] = {}
        if actions and execution.has_origin:
            numbers = numbers_of(self._replay, actions)
        return [
            SkipEntry(nth=numbers.get(one.ordinal, 0), **protocol.ref_fields(one))
            for one in actions
        ]


def _is_at(stop: Stop, mismatch: Mismatch) -> bool:
    if stop.when == "exit":
        return True
    return mismatch.stop is not None and stop.event >= mismatch.stop.event


def _other_action(entry: SkipEntry, stop: Stop) -> str:
    there = _words(stop.ordinal, stop.tag, stop.name, stop.location, stop.function)
    return f"{_entry_text(entry)} does not match: found {there}. {why_not_found(entry)}"


def _missing_action(entry: SkipEntry, actions: int | None) -> str:
    ended = "ends earlier" if actions is None else f"has only {counted(actions, 'action')}"
    return f"{_entry_text(entry)} does not match: the run {ended}. {why_not_found(entry)}"


def _entry_text(entry: SkipEntry) -> str:
    return f"The skip of {_words(entry.ordinal, *entry.what[:2], entry.location, entry.function)}"


def _words(ordinal: int, tag: str, name: str, location: str | None, function: str | None) -> str:
    words = f"#{ordinal} {tag} ({name or 'nameless'})"
    words += f" in @{function}" if function else ""
    return words + (f" at {location}" if location else "")


FORMAT = 2  # 1 had no ``op``, and no rules


class Head(msgspec.Struct, kw_only=True, frozen=True):
    """The header: the run that the skips belong to."""

    actiondbg: Literal["skips"] = "skips"  # the type of the file
    format: int = FORMAT  # the version of the format
    tool: str  # the path of the tool
    argv: list[str]  # its command line
    build: str | None = None  # the tool's build id, or None


class SkipEntry(SavedAction, kw_only=True, frozen=True):
    """A saved skip."""

    control: Literal["skip"] = "skip"


class RuleEntry(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A saved skip rule."""

    rule: str  # the SPEC of the actions to skip
    condition: str | None = None  # as of a breakpoint; None for none


class SavedSkips(NamedTuple):
    """The content of a file of skips."""

    entries: list[SkipEntry]
    rules: list[RuleEntry]


def write_skips(
    path: str | os.PathLike[str],
    head: Head,
    entries: Sequence[SkipEntry],
    rules: Sequence[RuleEntry] = (),
) -> None:
    """Write a file of skips; see ``write_file``."""
    lines = [json_bytes(one) + b"\n" for one in (head, *entries, *rules)]
    write_file(path, b"".join(lines), "The skips")


def read_skips(path: str | os.PathLike[str]) -> SavedSkips:
    """Read a file of skips; raises UsageError if it cannot be read, or a line is invalid."""
    name = os.fspath(path)
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError as error:
        raise UsageError(
            f"The skips cannot be read from {name!r} ({error.strerror}): name another file."
        ) from error
    _check_head(name, lines[0] if lines else b"")
    saved = SavedSkips([], [])
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        try:
            _decode(line, saved)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"{name}:{number} is not a saved skip: {error}.") from error
    return saved


def _decode(line: bytes, saved: SavedSkips) -> None:
    """Decode a line, and add it to the others of its kind."""
    if line.lstrip().startswith(b'{"rule"'):
        saved.rules.append(msgspec.json.decode(line, type=RuleEntry))
    else:
        saved.entries.append(msgspec.json.decode(line, type=SkipEntry))


def _check_head(name: str, line: bytes) -> None:
    try:
        head = msgspec.json.decode(line, type=Head)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{name!r} is not a file of skips: name one that 'save skips' has written."
        ) from error
    if head.format > FORMAT:
        raise UsageError(
            f"{name!r} has format {head.format}, and this actiondbg reads formats up to {FORMAT}: "
            "use a newer actiondbg."
        )
