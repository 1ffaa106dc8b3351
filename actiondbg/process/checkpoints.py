"""Checkpoints of a run: frozen forks that can replace the tool."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from actiondbg import protocol
from actiondbg.errors import UsageError
from actiondbg.process.branches import Branches
from actiondbg.process.forked_tool import ForkedTool, ForkOwner
from actiondbg.process.stop import Stop
from actiondbg.process.tool_process import Listener
from actiondbg.support.counts import no_such

# --- checkpoints ---


_MAX_AUTOMATIC = 64
_BACKLOG = 4096  # connections that are not accepted yet
_MEASURE_SHARE = 20  # measuring memory takes at most one part in these of the time


class Checkpoint(protocol.ActionRef, kw_only=True, frozen=True):  # pyright: ignore[reportGeneralTypeIssues]
    """A checkpoint of the user's.

    Attributes:
        number: from 1, unique in a run.
        branch: the number of its branch of the timeline.
        event: the newest event, from 1.
        when: "before", "after" or "during" the action.
        pid: of the frozen process.
    """

    number: int
    branch: int
    event: int
    when: protocol.When
    pid: int


class Automatic(msgspec.Struct, kw_only=True, frozen=True):
    """The number of automatic checkpoints, and the bytes that they hold."""

    count: int
    bytes: int


@dataclass(eq=False)
class Frozen:
    """A frozen process on a branch."""

    tool: ForkedTool
    branch: int  # the number of the branch
    number: int | None = None  # of the user's checkpoint; None for an automatic one
    # k for the k-th stop inside of an action after the event; 0 at the event itself.
    inside: int = 0

    @property
    def event(self) -> int:
        """The newest event, from 1."""
        return self.tool.event

    @property
    def at_event(self) -> bool:
        """Whether it is stopped at the event, before or after an action, and not behind it."""
        stop = self.tool.stop
        return stop is not None and stop.when != "during"

    @property
    def actions(self) -> int:
        """The number of actions that have begun."""
        return self.tool.hello.ordinal

    def describe(self) -> Checkpoint:
        """Return the checkpoint for display."""
        stop = self.tool.stop or Stop(when="during", reason="start")
        return Checkpoint(
            number=self.number or 0,
            branch=self.branch,
            event=stop.event,
            when="during" if stop.when == "exit" else stop.when,
            pid=self.tool.pid,
            **protocol.ref_fields(stop),
        )


class Checkpoints:
    """The checkpoints of a run: the user's, and the automatic ones.

    Each timeline has a socket of its own: an automatic checkpoint may connect after the run has
    left its timeline.
    """

    def __init__(self, forks: ForkOwner, directory: Path) -> None:
        self._forks = forks
        self._directory = directory
        # Each with the timelines at the time when the tool got the socket.
        self._listeners: list[tuple[Listener, Branches]] = []
        self._numbers = itertools.count(1)
        self._megabytes = 0
        self._manual: dict[int, Frozen] = {}
        self._newest = 0
        self._automatic: list[Frozen] = []
        self._next_measurement = 0.0
        self._bytes = 0

    def close(self) -> None:
        """Close the sockets; the processes end with the forks of the run."""
        for listener, _ in self._listeners:
            self._forks.accept_all(listener)
            listener.close()
        self._listeners.clear()

    # --- the user's checkpoints ---

    def add(self, fork: ForkedTool, branch: int, inside: int) -> Checkpoint:
        """Add a checkpoint of the user's; see ``Frozen``."""
        self._newest += 1
        made = self._manual[self._newest] = Frozen(fork, branch, self._newest, inside)
        return made.describe()

    def get(self, number: int) -> Frozen:
        """Return a checkpoint of the user's; raises UsageError for an unknown number."""
        self._drop_ended()
        found = self._manual.get(number)
        if found is not None:
            return found
        raise UsageError(no_such("checkpoint", number, self._manual))

    def delete(self, number: int) -> None:
        """End a checkpoint of the user's; raises UsageError for an unknown number."""
        self.get(number)
        self._manual.pop(number).tool.close()

    def all(self) -> list[Checkpoint]:
        """Return the user's checkpoints, in the order of their numbers."""
        self._drop_ended()
        return [one.describe() for one in self._manual.values()]

    # --- automatic checkpoints ---

    def listen(
        self, branches: Branches, milliseconds: int, megabytes: int
    ) -> protocol.CheckpointOptions:
        """Open a socket for automatic checkpoints on the current branch; return the settings.

        At 0 milliseconds none are made; the megabytes are the limit of all of them together.
        """
        if megabytes != self._megabytes:
            self._megabytes, self._next_measurement = megabytes, 0.0
        listener = Listener(self._directory / f"a{next(self._numbers):x}", _BACKLOG)
        self._listeners.append((listener, branches.save()))
        socket = str(listener.path)
        return protocol.CheckpointOptions(
            socket=socket, milliseconds=milliseconds, megabytes=megabytes
        )

    def settle(self) -> None:
        """Close all sockets but the newest one: the other processes are gone."""
        for listener, _ in self._listeners[:-1]:
            listener.close()
        del self._listeners[:-1]

    def accept(self, branches: Branches) -> None:
        """Accept the checkpoints that have connected, and drop superfluous ones."""
        for listener, then in self._listeners:
            for fork in self._forks.accept_all(listener):
                branch = then.owner(fork.event, at_event=False).number
                self._automatic.append(Frozen(fork, branch))
        self._enforce_limits(branches)

    def automatic(self, branches: Branches) -> Automatic:
        """Drop superfluous checkpoints; return the number and the memory of the others."""
        self._next_measurement = 0.0
        self.accept(branches)
        self._drop_ended()
        return Automatic(
            count=len(self._automatic),
            bytes=sum(memory_of(one.tool.pid) for one in self._automatic),
        )

    def drop(self, frozen: Frozen) -> None:
        """End a checkpoint that cannot be forked."""
        frozen.tool.close()
        self._drop_ended()

    # --- search ---

    def on(self, branches: Branches) -> list[Frozen]:
        """Return the checkpoints on the current timeline, the newest first."""
        self._drop_ended()
        found = [
            one
            for one in (*self._manual.values(), *self._automatic)
            if branches.holds(one.branch, one.event, one.at_event)
        ]
        return sorted(found, key=lambda one: (one.event, not one.at_event), reverse=True)

    def _drop_ended(self) -> None:
        self._automatic = [one for one in self._automatic if _is_alive(one)]
        self._manual = {number: one for number, one in self._manual.items() if _is_alive(one)}

    # --- limits ---

    def _enforce_limits(self, branches: Branches) -> None:
        if len(self._automatic) > _MAX_AUTOMATIC:
            self._drop_ended()
        while len(self._automatic) > _MAX_AUTOMATIC:
            self._drop_least_useful(branches)
        began = time.monotonic()
        if not self._automatic or began < self._next_measurement:
            return
        self._limit_memory(branches)
        ended = time.monotonic()
        self._next_measurement = ended + _MEASURE_SHARE * (ended - began)

    def _limit_memory(self, branches: Branches) -> None:
        held = sum(memory_of(one.tool.pid) for one in self._all())
        while held > self._megabytes << 20 and self._automatic:
            held -= self._drop_least_useful(branches)

    def _all(self) -> Iterable[Frozen]:
        return (*self._manual.values(), *self._automatic)

    def _drop_least_useful(self, branches: Branches) -> int:
        """Drop an automatic checkpoint, of an abandoned timeline first; return its bytes."""
        abandoned = [
            one
            for one in self._automatic
            if not branches.holds(one.branch, one.event, at_event=False)
        ]
        if abandoned:
            dropped = abandoned[0]
        else:
            ordered = sorted(self._automatic, key=lambda one: one.event)
            events = [one.event for one in ordered]
            dropped = ordered[least_useful(events, branches.current.reached)]
        self._automatic.remove(dropped)
        held = memory_of(dropped.tool.pid)
        dropped.tool.close()
        return held


def least_useful(events: Sequence[int], now: int) -> int:
    """Return the index of the least useful of some checkpoints; older ones lie further apart.

    Its removal adds least to a replay, relative to the distance from the newest event ``now``. The
    tool thins its own checkpoints out before, by run time: ``Checkpoints::thin`` of the agent.
    """

    def cost(index: int) -> float:
        before = events[index - 1] if index else 0
        after = events[index + 1] if index + 1 < len(events) else max(now, events[-1])
        return (after - before) / (max(now - events[index], 0) + 1)

    return min(range(len(events)), key=cost)


def memory_of(pid: int) -> int:
    """Return the bytes that a process holds: private pages, and its part of shared ones.

    Source: Pss_Anon of /proc/PID/smaps_rollup, proc(5), which excludes file mappings.
    """
    sizes: dict[str, int] = {}
    try:
        with Path(f"/proc/{pid}/smaps_rollup").open() as lines:
            for line in lines:
                key, _, rest = line.partition(":")
                if key in ("Pss", "Pss_Anon"):
                    sizes[key] = int(rest.split()[0]) << 10
    except (OSError, ValueError, IndexError):
        return 0
    return sizes.get("Pss_Anon", sizes.get("Pss", 0))


def _is_alive(frozen: Frozen) -> bool:
    return not (frozen.tool.is_closed or frozen.tool.is_gone)
