"""The checkpoints of a run: frozen processes that can take the tool's place."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from actiondbg import protocol
from actiondbg.errors import UsageError
from actiondbg.process.fork_owner import ForkOwner
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Stop
from actiondbg.process.timeline import Branches
from actiondbg.process.tool_process import Listener

_MOST = 64  # automatic ones that are held
_WAITING = 4096  # that may have connected and were not accepted yet
_MEASURING = 20  # of the time that passes, one part of these at most goes into measuring memory


class Checkpoint(msgspec.Struct, kw_only=True, frozen=True):
    """A checkpoint that the user made.

    Attributes:
        number: from 1, not given out again in a run.
        branch: the number of the branch of the timeline that it is on.
        event: the newest event there, from 1.
        when: "before", "after" or "during" the action.
        ordinal: of that action; 0 "during" none.
        tag: that action's kind.
        name: what it is about.
        op: the name of the operation that it is about, or None.
        location: FILE:LINE:COL of that operation, or None.
        function: the symbol that holds that operation, or None.
        pid: of the frozen process.
    """

    number: int
    branch: int
    event: int
    when: protocol.When
    ordinal: int
    tag: str
    name: str
    op: str | None
    location: str | None
    function: str | None
    pid: int


class Automatic(msgspec.Struct, kw_only=True, frozen=True):
    """The checkpoints that the tool made of itself: how many are held, and in how many bytes."""

    count: int
    bytes: int


@dataclass(eq=False)
class Frozen:
    """A frozen process on a branch.

    Attributes:
        replica: the process.
        branch: the number of the branch.
        number: the user's number of it, or None.
        inside: at the how many-th stop inside of an action after its event it stands; 0 if it
            does not.
    """

    replica: ForkedTool
    branch: int
    number: int | None = None
    inside: int = 0

    @property
    def event(self) -> int:
        """The newest event there."""
        return self.replica.event

    @property
    def stands(self) -> bool:
        """Whether it is at a stop before or after an action: at the event, not behind it."""
        stop = self.replica.stop
        return stop is not None and stop.when != "during"

    @property
    def actions(self) -> int:
        """How many actions have begun there."""
        return self.replica.hello.ordinal

    def shown(self) -> Checkpoint:
        """Return it as the user sees it."""
        stop = self.replica.stop or Stop(when="during", reason="start")
        return Checkpoint(
            number=self.number or 0,
            branch=self.branch,
            event=stop.event,
            when="during" if stop.when == "exit" else stop.when,
            ordinal=stop.ordinal,
            tag=stop.tag,
            name=stop.name,
            op=stop.op,
            location=stop.location,
            function=stop.function,
            pid=self.replica.pid,
        )


class Checkpoints:
    """The checkpoints of a run, the user's and the tool's own.

    Args:
        forks: of the run.
        directory: of the session, where the tool's own connect.

    A process connects to a socket of the timeline that it is on: what it froze there may connect
    when the run is on another one.
    """

    def __init__(self, forks: ForkOwner, directory: Path) -> None:
        self._forks = forks
        self._directory = directory
        # Each with the timelines as they were when a process was told of it.
        self._listeners: list[tuple[Listener, Branches]] = []
        self._numbers = itertools.count(1)
        self._megabytes = 0
        self._manual: dict[int, Frozen] = {}
        self._newest = 0
        self._automatic: list[Frozen] = []
        self._measured = 0.0  # when the next measuring may be
        self._bytes = 0

    def close(self) -> None:
        """Let no more connect; all processes end with the forks of the run."""
        for listener, _ in self._listeners:
            self._forks.accept_all(listener)
            listener.close()
        self._listeners.clear()

    # --- the user's ---

    def add(self, replica: ForkedTool, branch: int, inside: int) -> Checkpoint:
        """Take up one that the user made, which stands at a stop; see ``Frozen``."""
        self._newest += 1
        made = self._manual[self._newest] = Frozen(replica, branch, self._newest, inside)
        return made.shown()

    def get(self, number: int) -> Frozen:
        """Return one of the user's.

        Raises:
            UsageError: there is none of that number.
        """
        self._forget_ended()
        found = self._manual.get(number)
        if found is not None:
            return found
        known = ", ".join(map(str, self._manual)) or "none"
        raise UsageError(f"There is no checkpoint {number}: there are {known}.")

    def delete(self, number: int) -> None:
        """End one of the user's; raises UsageError if there is none of that number."""
        self.get(number)
        self._manual.pop(number).replica.close()

    def all(self) -> list[Checkpoint]:
        """Return the user's, in the order of their numbers."""
        self._forget_ended()
        return [one.shown() for one in self._manual.values()]

    # --- the tool's own ---

    def listen(
        self, branches: Branches, milliseconds: int, megabytes: int
    ) -> protocol.CheckpointOptions:
        """Return what has a process make checkpoints of itself.

        Args:
            branches: the process is on the current one, and stays there.
            milliseconds: how long it runs between two; 0 for none.
            megabytes: that they may hold, in pages of their own.
        """
        if megabytes != self._megabytes:
            self._megabytes, self._measured = megabytes, 0.0
        listener = Listener(self._directory / f"a{next(self._numbers):x}", _WAITING)
        self._listeners.append((listener, branches.save()))
        socket = str(listener.path)
        return protocol.CheckpointOptions(
            socket=socket, milliseconds=milliseconds, megabytes=megabytes
        )

    def settle(self) -> None:
        """Listen to the process only that was told last: the others are gone."""
        for listener, _ in self._listeners[:-1]:
            listener.close()
        del self._listeners[:-1]

    def accept(self, branches: Branches) -> None:
        """Take up what has connected, and thin it out.

        Args:
            branches: where the tool is now.
        """
        for listener, then in self._listeners:
            for replica in self._forks.accept_all(listener):
                branch = then.owner(replica.event, stands=False).number
                self._automatic.append(Frozen(replica, branch))
        self._thin(branches)

    def automatic(self, branches: Branches) -> Automatic:
        """Thin the tool's own out; return how many they are, and what they hold now."""
        self._measured = 0.0
        self.accept(branches)
        self._forget_ended()
        return Automatic(
            count=len(self._automatic),
            bytes=sum(unshared(one.replica.pid) for one in self._automatic),
        )

    def drop(self, frozen: Frozen) -> None:
        """End one that is of no use, whoever made it."""
        frozen.replica.close()
        self._forget_ended()

    # --- finding ---

    def on(self, branches: Branches) -> list[Frozen]:
        """Return those on the current timeline, the newest first."""
        self._forget_ended()
        found = [
            one
            for one in (*self._manual.values(), *self._automatic)
            if branches.holds(one.branch, one.event, one.stands)
        ]
        return sorted(found, key=lambda one: (one.event, not one.stands), reverse=True)

    def _forget_ended(self) -> None:
        self._automatic = [one for one in self._automatic if _is_there(one)]
        self._manual = {number: one for number, one in self._manual.items() if _is_there(one)}

    # --- thinning out ---

    def _thin(self, branches: Branches) -> None:
        if len(self._automatic) > _MOST:
            self._forget_ended()
        while len(self._automatic) > _MOST:
            self._drop_least(branches)
        began = time.monotonic()
        if not self._automatic or began < self._measured:
            return
        self._limit_memory(branches)
        ended = time.monotonic()
        self._measured = ended + _MEASURING * (ended - began)

    def _limit_memory(self, branches: Branches) -> None:
        held = sum(unshared(one.replica.pid) for one in self._all())
        while held > self._megabytes << 20 and self._automatic:
            held -= self._drop_least(branches)

    def _all(self) -> Iterable[Frozen]:
        return (*self._manual.values(), *self._automatic)

    def _drop_least(self, branches: Branches) -> int:
        """Drop the one that is missed least: of a timeline that was left, or one among others.

        Returns:
            The bytes that it held.
        """
        left = [
            one
            for one in self._automatic
            if not branches.holds(one.branch, one.event, stands=False)
        ]
        if left:
            dropped = left[0]
        else:
            ordered = sorted(self._automatic, key=lambda one: one.event)
            events = [one.event for one in ordered]
            dropped = ordered[least_missed(events, branches.current.reached)]
        self._automatic.remove(dropped)
        held = unshared(dropped.replica.pid)
        dropped.replica.close()
        return held


def least_missed(events: Sequence[int], now: int) -> int:
    """Return which of some checkpoints is missed least: the further back, the further apart.

    Args:
        events: where they are, in order; not empty.
        now: how far the run has come.

    Returns:
        The index of the one without which the way to what follows it grows least, as a part of
        the way back to there.
    """

    def missed(index: int) -> float:
        before = events[index - 1] if index else 0
        after = events[index + 1] if index + 1 < len(events) else max(now, events[-1])
        return (after - before) / (max(now - events[index], 0) + 1)

    return min(range(len(events)), key=missed)


def unshared(pid: int) -> int:
    """Return how many bytes a process holds in pages of its own, shared ones in parts.

    Source: Pss of /proc/PID/smaps_rollup, proc(5); only of what is not in files.
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


def _is_there(frozen: Frozen) -> bool:
    return not (frozen.replica.is_closed or frozen.replica.is_gone)
