"""Places in a run, as the tests of going back compare them."""

from __future__ import annotations

import os
from pathlib import Path

import actiondbg
from actiondbg.process.stop import Stop
from tests.fakes import stock_tool as stock

Place = tuple[int, int, str]


def place(stop: Stop) -> Place:
    return stop.event, stop.ordinal, stop.when


def all_stops(session: actiondbg.Session) -> dict[int, Stop]:
    """Step through the run; the stop at each event."""
    stop = session.start()
    found: dict[int, Stop] = {}
    while stop.when != "exit":
        found[stop.event] = stop
        stop = session.step()
    return found


def same(one: Stop, other: Stop) -> bool:
    """Whether two stops tell the same but for why the tool stops."""
    first, second = one.as_json(), other.as_json()
    return {**first, "reason": ""} == {**second, "reason": ""}


def alone(session: actiondbg.Session) -> str:
    """What the tool writes when nobody debugs it."""
    return stock.run(session.target.argv, check=True).stdout


def processes(session: actiondbg.Session) -> list[int]:
    return processes_of(session.target.argv[1], str(Path.cwd()))


def processes_of(word: str, directory: str) -> list[int]:
    """Find the processes with a word in their command line that run in a directory."""
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().decode().split("\0")
            if word in words and os.readlink(entry / "cwd") == directory:
                found.append(int(entry.name))
        except OSError:
            continue
    return found
