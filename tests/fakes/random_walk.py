"""Random walks through a run, which check that each event always shows the same."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable

import actiondbg
from actiondbg.errors import ControlRefused, UsageError
from actiondbg.process.stop import Stop

Seen = dict[tuple[object, ...], tuple[object, ...]]


class RandomWalk:
    """A random walk through a run, forwards and backwards.

    Args:
        session: not started yet.
        seed: of the random choices.
        actions: the number of actions of the run.
        answers: whether the walk skips and applies actions.
    """

    def __init__(
        self, session: actiondbg.Session, seed: int, actions: int, answers: bool = False
    ) -> None:
        self.session = session
        self.seen: Seen = {}
        self.way: list[str] = []
        self._random = random.Random(seed)
        self._actions = actions
        self._answers = answers

    def walk(self, moves: int) -> Stop:
        """Start, make some moves, and continue to the end; return the exit."""
        self.session.start()
        return self.walk_on(moves)

    def walk_on(self, moves: int) -> Stop:
        """Make some moves from here, and continue to the end; return the exit."""
        assert self.session.stop is not None
        stop = self.session.stop
        for _ in range(moves):
            self._check(stop)
            stop = self._move(stop)
        while stop.when != "exit":
            self._check(stop)
            stop = self.session.continue_()
        return stop

    def _check(self, stop: Stop) -> None:
        """Check that the event shows the same as at the earlier visits of the walk."""
        session = self.session
        text = b""
        if stop.when != "exit":
            with session.ir.print("module", generic=True) as printed:
                text = printed.text.encode()
        found = (stop.ordinal, stop.name, stop.op, stop.location, stop.depth)
        hits = tuple(one.hits for one in session.breakpoints.all())
        found = (
            *found,
            hits,
            session.target.output(),
            session.target.errors(),
            hashlib.sha256(text).hexdigest(),
        )
        place = (stop.event, stop.when, self._skipped_before(stop.event))
        first = self.seen.setdefault(place, found)
        assert first == found, f"{place}: {first} was, {found} is: {self.way}"

    def _skipped_before(self, event: int) -> tuple[int, ...]:
        assert self.session.execution is not None
        skips = self.session.execution.branches.skips()
        return tuple(one.ordinal for one in skips if one.event < event)

    def _move(self, stop: Stop) -> Stop:
        session, pick = self.session, self._random
        count = pick.choice((1, 1, 1, 2, 5))
        forward: dict[str, Callable[[], Stop]] = {
            f"step {count}": lambda: session.step(count),
            f"next {count}": lambda: session.next(count),
            "continue": session.continue_,
        }
        ordinal, side = pick.randint(1, self._actions), pick.choice(("before", "after"))
        moves: dict[str, Callable[[], Stop]] = {
            f"goto #{ordinal} {side}": lambda: session.timeline.goto(ordinal, side),  # type: ignore[arg-type]
            f"reverse-step {count}": lambda: session.timeline.reverse_step(count),
            f"reverse-next {count}": lambda: session.timeline.reverse_next(count),
            "reverse-finish": session.timeline.reverse_finish,
            f"reverse-continue {count}": lambda: session.timeline.reverse_continue(count),
            "restart": self._restart,
        }
        if stop.when != "exit":
            moves |= forward
            moves["checkpoint"] = self._checkpoint
        if self._answers and stop.when == "before":
            moves |= {
                f"skip #{stop.ordinal}": session.skip,
                f"apply #{stop.ordinal}": session.apply,
            }
        answers = [move for move in moves if move.startswith(("skip", "apply"))]
        name = pick.choice([*moves, *answers, *answers])
        self.way.append(name)
        try:
            return moves[name]()
        except (ControlRefused, UsageError):  # at the beginning, or no such action here
            return stop

    def _checkpoint(self) -> Stop:
        self.session.timeline.checkpoints.add()
        assert self.session.stop is not None
        return self.session.stop

    def _restart(self) -> Stop:
        frozen = self.session.timeline.checkpoints.all()
        if not frozen:
            return self.session.timeline.goto(1)
        return self.session.timeline.checkpoints.restore(self._random.choice(frozen).number)
