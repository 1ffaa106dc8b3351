"""Time travel, checkpoints, timelines and skips, over a fake session."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from actiondbg.commands.interpreter.interpreter import candidates
from actiondbg.commands.shell.topics import COMMANDS
from actiondbg.process.checkpoints import Automatic
from tests.elements import some
from tests.fakes.session.driver import Driver
from tests.fakes.session.time_travel import TIMELINE, made


@pytest.fixture
def stopped() -> Driver:
    driver = Driver()
    driver.do("start")
    driver.session.calls.clear()
    return driver


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("goto #17", ("goto", 17, "before")),
        ("goto 17 --after", ("goto", 17, "after")),
        ("goto cse", ("goto", 9, "before")),
        ("goto c*#2 --after", ("goto", 9, "after")),
        ("reverse-step", ("reverse_step", 1)),
        ("rs 5", ("reverse_step", 5)),
        ("rn 2", ("reverse_next", 2)),
        ("rf", ("reverse_finish", 1)),
        ("rfin 2", ("reverse_finish", 2)),
        ("rc 3", ("reverse_continue", 3)),
        ("reverse-c", ("reverse_continue", 1)),
        ("restart 2", ("restore", 2)),
        ("save skips my.skips", ("save_skips", "my.skips")),
        ("load skips my.skips", ("load_skips", "my.skips")),
    ],
)
def test_requests(stopped: Driver, line: str, call: tuple[Any, ...]) -> None:
    printed = stopped.do(line)
    assert call in stopped.session.calls
    if call[0].endswith("skips"):
        assert "skip" in printed and "my.skips." in printed
    else:
        assert printed.startswith("Stopped before #2")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("goto", "the following arguments are required"),
        ("goto -1", "'-1' is not an ordinal, such as #17"),
        ("goto 0", "'0' is not an ordinal, such as #17"),
        ("goto x", "No pass 'x' runs: the passes of this run are canonicalize, cse."),
        ("goto cse#2", "The pass cse runs once"),
        ("rs 0", "'0' is not a positive integer"),
        ("restart x", "'x' is not a positive integer"),
        ("delete checkpoint", "the following arguments are required"),
        ("delete checkpoint 1", "There is no checkpoint 1"),
        ("delete chk 1", "'chk'"),
        ("save", "save: the subcommand is missing: give one of breakpoints, skips"),
        ("load", "load: the subcommand is missing: give one of skips"),
        ("load breakpoints x", "there is no subcommand 'breakpoints'"),
        ("set checkpoints maybe", "give on or off or a number of milliseconds"),
        ("set checkpoint-memory on", "give a number of megabytes"),
    ],
)
def test_errors_of_arguments(stopped: Driver, line: str, message: str) -> None:
    assert message in stopped.do(line)
    assert stopped.session.calls == []


def test_without_a_number_restart_starts_again(stopped: Driver) -> None:
    stopped.do("restart")
    assert stopped.session.calls[0] == ("restart",)


def test_enter_repeats_time_travel(stopped: Driver) -> None:
    for line in ("rs 2", "reverse-next", "rf", "rc"):
        stopped.do(line)
        assert stopped.interpreter.repeat == line
    stopped.do("goto #1")
    assert stopped.interpreter.repeat == ""


def test_checkpoints(stopped: Driver) -> None:
    place = "before #2 apply-pattern (Fold) in @main at in.mlir:3:10"
    assert stopped.do("info checkpoints") == "There are no checkpoints.\n"
    assert stopped.do("checkpoint") == f"Checkpoint 1, {place}\n"
    stopped.session.timeline.checkpoints.frozen.append(made(2, branch=3))
    stopped.session.timeline.checkpoints.made_by_tool = Automatic(count=7, bytes=3 << 20)
    assert stopped.do("info checkpoints").splitlines() == [
        f"1: {place}, branch 1",
        f"2: {place}, branch 3",
        "Automatic checkpoints: 7 (3 MB).",
    ]
    assert stopped.do("delete checkpoint 1", "delete c 2") == ""
    assert stopped.session.timeline.checkpoints.frozen == []
    stopped.session.timeline.checkpoints.frozen = [
        msgspec.structs.replace(made(1), when="during"),
        msgspec.structs.replace(made(2), when="during", ordinal=0),
    ]
    assert stopped.do("info checkpoints").splitlines()[:2] == [
        f"1: {place.replace('before', 'inside')}",
        "2: outside of any action",
    ]


def test_delete_still_deletes_breakpoints(stopped: Driver) -> None:
    stopped.do("break x", "break y", "delete 1")
    assert [one.id for one in stopped.session.breakpoints.all()] == [2]
    stopped.do("delete all")
    assert stopped.session.breakpoints.all() == []


def test_the_timeline(stopped: Driver) -> None:
    assert stopped.do("info timeline").splitlines() == [
        "  branch 1: ended after #20",
        "* branch 2: leaves branch 1 at #4, reached #6; skips #4 apply-pattern (Fold)",
        "The tool is before #6, at event 11.",
    ]
    for when, words in (
        (None, "The tool is running."),
        ("exit", "The tool has ended."),
        ("during", "The tool is inside #6, at event 11."),
    ):
        timeline = msgspec.structs.replace(TIMELINE, when=when)
        stopped.session.timeline.shown = timeline
        assert stopped.do("info timeline").splitlines()[-1] == words
    many = [msgspec.structs.replace(TIMELINE.branches[1].skips[0], ordinal=n) for n in range(1, 9)]
    branch = msgspec.structs.replace(TIMELINE.branches[0], skips=many)
    timeline = msgspec.structs.replace(TIMELINE, branches=[branch], current=1)
    stopped.session.timeline.shown = timeline
    assert (
        stopped.do("info timeline").splitlines()[0].endswith("#5 apply-pattern (Fold) and 3 more")
    )


def test_settings(stopped: Driver) -> None:
    session = stopped.session
    assert stopped.do("show checkpoints") == "checkpoints  on\n"
    stopped.do("set checkpoints off", "set checkpoint-memory 64")
    assert (session.options.checkpoint_spacing, session.options.checkpoint_memory) == (0, 64)
    assert stopped.do("show checkpoints") == "checkpoints  off\n"
    assert stopped.do("show checkpoint-memory") == "checkpoint-memory  64\n"
    stopped.do("set checkpoints 200")
    assert stopped.do("show checkpoints") == "checkpoints  200\n"
    stopped.do("set checkpoints on")
    assert session.options.checkpoint_spacing == 50


def test_json() -> None:
    driver = Driver(json=True)
    results = driver.results(
        "start", "checkpoint", "info checkpoints", "info timeline", "rs", "load skips x"
    )
    _, frozen, listed, timeline, stop, loaded = [each["result"] for each in results]
    assert frozen == msgspec.to_builtins(made(1))
    assert listed == {"checkpoints": [frozen], "automatic": {"count": 0, "bytes": 0}}
    whole = msgspec.to_builtins(TIMELINE)
    for branch in some(whole["branches"]):
        assert branch.pop("spans") == []
        assert branch.pop("created") is None
    assert timeline == whole
    assert (stop["when"], stop["ordinal"]) == ("before", 2)
    assert loaded == {"text": "Loaded 2 skips from x."}


@pytest.mark.parametrize(
    ("line", "word", "expected"),
    [
        ("delete", "ch", ["checkpoint"]),
        ("delete checkpoint", "", ["1"]),
        ("delete 1", "", ["all"]),
        ("restart", "", ["1"]),
        ("save", "", ["breakpoints", "skips", "edits"]),
        ("load", "", ["skips", "edits"]),
        ("load skips", "x", None),
        ("goto", "--", ["--after"]),
        ("set checkpoints", "o", ["on", "off"]),
        ("info", "ti", ["timeline"]),
    ],
)
def test_completion(stopped: Driver, line: str, word: str, expected: list[str] | None) -> None:
    stopped.do("checkpoint")
    name, *before = line.split()
    assert candidates(stopped.console, COMMANDS.find(name), before, word) == expected
