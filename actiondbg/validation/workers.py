"""Processes that judge: one that crashes or hangs costs its query only."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection, wait
from typing import NamedTuple, cast

from actiondbg.support.interrupts import signal_name
from actiondbg.validation.function_judgement import FunctionJudgement, JudgementLimits, Query

_TICK = 0.2  # seconds between checks of the time limit
_GRACE = 15.0  # seconds that a query may take beyond its own, with the start of the process
_MOST_STARTED = 8  # processes, before it is known how many queries there are
_LOOKAHEAD = 3  # queries
_MODULE = "actiondbg.validation.worker"


class Numbered(NamedTuple):
    """A query."""

    number: int  # of the action that it is about
    query: Query
    seconds: float  # for all its functions together


@dataclass(slots=True)
class _Worker:
    process: subprocess.Popen[bytes]
    connection: Connection
    since: float = 0.0
    asked: Numbered | None = None
    read: str = ""  # last


class _Waiting:
    """The queries that no process has yet; a process prefers the query whose IR it has read."""

    def __init__(self, queries: Iterable[Numbered]) -> None:
        self._queries = iter(queries)
        self._next: list[Numbered] = []

    def take(self, read: str, others: set[str]) -> Numbered | None:
        """Return a query; None if none is left.

        Args:
            read: the IR that the process has read last.
            others: the IR that other processes read now, and can go on with.
        """
        self._next += islice(self._queries, _LOOKAHEAD - len(self._next))
        if not self._next:
            return None
        places = range(len(self._next))
        befores = [each.query.before for each in self._next]
        own = (at for at in places if befores[at] == read)
        free = (at for at in places if befores[at] not in others)
        return self._next.pop(next(own, next(free, 0)))


class Workers:
    """A pool of so many processes at most, each of which is started when it is needed."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._workers: list[_Worker] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start processes that will be needed: it takes them a while."""
        while len(self._workers) < min(self.count, _MOST_STARTED):
            self._new()

    def answers(
        self, queries: Iterable[Numbered], limits: JudgementLimits, end: float = float("inf")
    ) -> Iterator[tuple[Numbered, tuple[FunctionJudgement, ...]]]:
        """Yield queries with their answers, as they come.

        Args:
            queries: are taken in order, a few before a process is free.
            limits: of each judgement; a query has seconds of its own.
            end: the time, of the monotonic clock, after which nothing is answered.
        """
        left = _Waiting(queries)
        while True:
            self._ask(left, limits)
            busy = {each.connection: each for each in self._workers if each.asked is not None}
            if not busy:
                return
            if time.monotonic() > end:
                for worker in busy.values():
                    self._end(worker)
                return
            for ready in wait(list(busy), _TICK):
                yield self._received(busy.pop(cast("Connection", ready)))
            for worker in list(busy.values()):
                assert worker.asked is not None
                most = worker.asked.seconds + _GRACE
                if time.monotonic() - worker.since > most:
                    yield self._ended(worker, f"it took longer than {most:.0f} s")

    def close(self) -> None:
        """Kill all processes."""
        for worker in self._workers:
            worker.process.kill()
            worker.connection.close()
        for worker in self._workers:
            worker.process.wait()
        self._workers.clear()

    def _ask(self, left: _Waiting, limits: JudgementLimits) -> None:
        """Give queries to free processes."""
        while sum(each.asked is not None for each in self._workers) < self.count:
            free = next((each for each in self._workers if each.asked is None), None)
            others = {each.read for each in self._workers if each.asked is not None}
            asked = left.take(free.read if free else "", others)
            if asked is None:
                return
            free = free or self._new()
            free.asked, free.since, free.read = asked, time.monotonic(), asked.query.after
            with contextlib.suppress(OSError):  # the process has ended, as its answer will tell
                free.connection.send((limits, asked.query, asked.seconds))

    def _new(self) -> _Worker:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", _MODULE, str(theirs.fileno()), str(os.getpid())]
            process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        worker = _Worker(process, Connection(ours.detach()))
        self._workers.append(worker)
        return worker

    def _received(self, worker: _Worker) -> tuple[Numbered, tuple[FunctionJudgement, ...]]:
        assert worker.asked is not None
        try:
            answer: list[FunctionJudgement] = worker.connection.recv()
        except (EOFError, OSError):
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.process.wait(_TICK)
            return self._ended(worker, _ending(worker.process.returncode))
        asked, worker.asked = worker.asked, None
        return asked, tuple(answer)

    def _ended(
        self, worker: _Worker, reason: str
    ) -> tuple[Numbered, tuple[FunctionJudgement, ...]]:
        assert worker.asked is not None
        self._end(worker)
        lost = FunctionJudgement(worker.asked.query.symbol, "unknown", "none", reason)
        return worker.asked, (lost,)

    def _end(self, worker: _Worker) -> None:
        worker.process.kill()
        worker.process.wait()
        worker.connection.close()
        self._workers.remove(worker)


def _ending(status: int | None) -> str:
    if status is not None and status < 0:
        return f"the process that judged it was killed by {signal_name(-status)}"
    return f"the process that judged it ended with status {status}"


def judge_apart(query: Query, limits: JudgementLimits) -> tuple[FunctionJudgement, ...]:
    """Judge one query in a process of its own."""
    with Workers(1) as workers:
        asked = Numbered(0, query, limits.seconds_for(query))
        ((_, judgements),) = workers.answers([asked], limits)
    return judgements
