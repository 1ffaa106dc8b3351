"""Saving what was skipped, and replaying it: where it fits, and where it does not."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import actiondbg
from actiondbg import errors
from actiondbg.session.session import Session
from actiondbg.session.skip_plan import Head, SkipEntry, read_skips, write_skips
from tests.conftest import LIBRARY
from tests.fakes import stock_tool as stock
from tests.paths import COMMAND

BUILDS = LIBRARY

Launch = Callable[..., actiondbg.Session]

FLAGS = "--pass-pipeline=builtin.module(func.func(cse),canonicalize,symbol-dce)"
SPECS = ("pass:cse and func:mixed", "pattern:RemoveStaticCondition", "pass:symbol-dce")


def mixed(launch: Launch, source: str = stock.MIXED) -> actiondbg.Session:
    return launch(FLAGS, source=stock.write("mixed.mlir", source))


def saved(launch: Launch, path: str = "my.skips") -> tuple[list[dict[str, Any]], str]:
    """Skip three actions, save them; the entries, and the output."""
    session = mixed(launch)
    for spec in SPECS:
        session.breakpoints.add(spec)
    stop = session.run()
    names: list[str] = []
    while stop.when != "exit":
        answer = session.continue_ if stop.name in names else session.skip
        names.append(stop.name)
        stop = answer()
    assert session.skips.save(path) == 3
    _, *lines = Path(path).read_text().splitlines()
    return [json.loads(line) for line in lines], session.target.output()


def rewrite(path: str, *entries: dict[str, Any]) -> None:
    head = Path(path).read_text().splitlines()[0]
    Path(path).write_text("\n".join([head, *map(json.dumps, entries)]) + "\n")


# --- the file -------------------------------------------------------------------------------------


def test_file_is_readable(launch: Launch) -> None:
    entries, _ = saved(launch)
    session = mixed(launch)
    head = json.loads(Path("my.skips").read_text().splitlines()[0])
    assert head == {
        "actiondbg": "skips",
        "format": 2,
        "tool": str(session.target.tool.path),
        "argv": session.target.argv,
        "build": session.target.tool.build_id,
    }
    assert [one["name"] for one in entries] == ["cse", "RemoveStaticCondition", "symbol-dce"]
    for one in entries:
        keys = "ordinal tag name op location function context mlir nth control"
        assert list(one) == keys.split()
        assert one["control"] == "skip"
    assert [one["function"] for one in entries] == ["mixed", "mixed", None]
    assert [one["nth"] for one in entries] == [1, 1, 1]


def test_nth_is_counted_among_the_same_actions(launch: Launch) -> None:
    session = launch("--canonicalize", "--canonicalize")
    session.breakpoints.add("tag:apply-pattern")
    session.breakpoints.add("tag:fold")
    kinds: dict[object, list[int]] = {}
    for stop in stock.stops(session):
        kinds.setdefault((stop.tag, stop.name, stop.location), []).append(stop.ordinal)
    often = [ordinals for ordinals in kinds.values() if len(ordinals) > 2]
    assert often
    for ordinals in often[:3]:
        session.timeline.goto(ordinals[2])
        session.skip()
        session.skips.save("my.skips")
        [entry] = read_skips("my.skips").entries
        assert (entry.ordinal, entry.nth) == (ordinals[2], 3)
        session.timeline.goto(ordinals[2])
        session.apply()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a file of skips"),
        ("{}", "is not a file of skips"),
        ("break x\n", "is not a file of skips"),
        (b"\xff\xfe", "is not a file of skips"),
        ('{"actiondbg":"skips","format":3,"tool":"t","argv":[]}', "format 3"),
        (
            '{"actiondbg":"skips","format":1,"tool":"t","argv":[]}\n\n{"ordinal":1}',
            ":3 is not a saved skip",
        ),
        ('{"actiondbg":"skips","format":1,"tool":"t","argv":[]}\nno', ":2 is not a saved skip"),
    ],
)
def test_files_without_skips(tmp_path: Path, text: str | bytes, message: str) -> None:
    file = tmp_path / "my.skips"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(errors.UsageError, match=message):
        read_skips(file)


def test_a_file_of_the_first_format_is_read(tmp_path: Path) -> None:
    file = tmp_path / "my.skips"
    file.write_text(
        '{"actiondbg":"skips","format":1,"tool":"t","argv":["t"],"build":null}\n'
        '{"ordinal":3,"tag":"fold","name":"x","location":"f.mlir:1:2","function":null,"nth":1,'
        '"control":"skip"}\n'
    )
    entry = SkipEntry(ordinal=3, tag="fold", name="x", location="f.mlir:1:2", nth=1)
    assert read_skips(file).entries == [entry]


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(errors.UsageError, match="cannot be read"):
        read_skips(tmp_path / "none")
    with pytest.raises(errors.UsageError, match="cannot be read"):
        actiondbg.launch(["mlir-opt"], skips=tmp_path / "none")
    with pytest.raises(errors.FileNotWritten, match="cannot be written"):
        write_skips(tmp_path / "no/such", Head(tool="t", argv=[]), [])


def test_written_skips_are_read_back(tmp_path: Path) -> None:
    entry = SkipEntry(
        ordinal=3, tag="fold", name='a"é', location=None, function="@ f", nth=0, control="skip"
    )
    write_skips(tmp_path / "x", Head(tool="t", argv=["t", "é"]), [entry])
    assert read_skips(tmp_path / "x") == ([entry], [])
    assert len((tmp_path / "x").read_text().splitlines()) == 2


# --- where it fits --------------------------------------------------------------------------------


def test_replay_repeats_the_skips(launch: Launch) -> None:
    entries, output = saved(launch)
    session = mixed(launch)
    assert session.skips.load("my.skips") == 3
    for _ in range(2):  # in each run
        assert session.run().status == 0
        assert session.target.output() == output
    assert [one.ordinal for one in session.timeline.branches().branches[0].skips] == [
        one["ordinal"] for one in entries
    ]
    assert session.skips.save("again.skips") == 3
    assert Path("again.skips").read_bytes() == Path("my.skips").read_bytes()


def test_a_replay_keeps_to_breakpoints_and_steps(launch: Launch) -> None:
    entries, output = saved(launch)
    session = launch(FLAGS, source="mixed.mlir")
    session.breakpoints.add("pass:*")
    by_hand = mixed(launch)
    by_hand.breakpoints.add("pass:*")
    by_hand.run()
    session.skips.load("my.skips")
    stop = session.run()
    assert (stop.ordinal, stop.reason) == (1, "breakpoint")
    skipped: list[int] = []
    while stop.when != "exit":
        if stop.when == "before" and stop.skipped:
            skipped.append(stop.ordinal)
        stop = session.continue_() if stop.ordinal % 2 else session.step(3)
    assert skipped
    assert session.target.output() == output
    stop = session.start()
    assert stop.ordinal == 1
    assert session.timeline.goto(entries[1]["ordinal"], "after").skipped


def test_skips_are_loaded_at_a_stop(launch: Launch) -> None:
    entries, output = saved(launch)
    session = mixed(launch)
    session.start()
    session.timeline.goto(entries[0]["ordinal"])
    session.skips.load("my.skips")
    assert session.continue_().status == 0
    assert session.target.output() == output
    session.restart()
    assert session.target.output() == ""
    other = mixed(launch)
    other.start()
    other.timeline.goto(entries[0]["ordinal"], "after")
    with pytest.raises(errors.UsageError, match=f"#{entries[0]['ordinal']} has ended"):
        other.skips.load("my.skips")
    assert other.continue_().status == 0
    assert other.target.output() == stock.run(other.target.argv).stdout


def test_moved_action_is_found(launch: Launch) -> None:
    entries, output = saved(launch)
    moved = [{**one, "ordinal": one["ordinal"] + 3} for one in entries]
    rewrite("my.skips", *moved)
    session = mixed(launch)
    session.skips.load("my.skips")
    assert session.run().status == 0
    assert session.target.output() == output
    found = [one.ordinal for one in session.timeline.branches().branches[0].skips]
    assert found == [one["ordinal"] for one in entries]
    rewrite("my.skips", *[{**one, "ordinal": one["ordinal"] * 100} for one in entries[::-1]])
    session = mixed(launch)
    session.skips.load("my.skips")
    assert session.run().status == 0
    assert session.target.output() == output


def test_skipped_pass_is_found_by_its_function_below_more_lines(launch: Launch) -> None:
    source = Path(mixed(launch).target.argv[1]).read_text()
    passes = "--pass-pipeline=builtin.module(func.func(cse))"
    session = launch(passes, source="mixed.mlir")
    session.breakpoints.add("pass:cse and func:mixed", temporary=True)
    session.run()
    assert session.skip().status == 0
    output = session.target.output()
    session.skips.save("cse.skips")
    more = launch(passes, source=stock.write("more.mlir", f"\n\n{source}"))
    more.skips.load("cse.skips")
    assert more.run().status == 0
    assert more.target.output() == output != stock.run(more.target.argv).stdout


def test_replay_continues_after_another_control(launch: Launch) -> None:
    entries, _ = saved(launch)
    session = mixed(launch)
    session.skips.load("my.skips")
    session.start()
    session.timeline.goto(entries[0]["ordinal"])
    session.apply()  # and so does not skip cse: later ordinals are others
    skips = session.timeline.branches().branches[0].skips
    assert [one.name for one in skips] == ["RemoveStaticCondition", "symbol-dce"]
    by_hand = mixed(launch)
    for spec in SPECS[1:]:
        by_hand.breakpoints.add(spec, temporary=True)
    by_hand.run()
    by_hand.skip()
    by_hand.skip()
    assert session.target.output() == by_hand.target.output()


# --- where it does not ----------------------------------------------------------------------------


def test_missing_action_ends_the_replay(launch: Launch) -> None:
    entries, _ = saved(launch)
    wrong = {**entries[1], "name": "NoSuchPattern"}
    rewrite("my.skips", entries[0], wrong, entries[2])
    session = mixed(launch)
    session.skips.load("my.skips")
    with pytest.raises(errors.SkipMismatch) as raised:
        session.run()
    ordinal = entries[1]["ordinal"]
    assert f"The skip of #{ordinal} apply-pattern (NoSuchPattern) in @mixed" in str(raised.value)
    assert f"found #{ordinal} apply-pattern (RemoveStaticCondition)" in str(raised.value)
    stop = session.stop
    assert stop is not None
    assert (stop.ordinal, stop.when, stop.skipped) == (ordinal, "before", False)
    assert (stop.breakpoints, stop.reason) == ([], "until")
    assert [one.ordinal for one in session.timeline.branches().branches[0].skips] == [
        entries[0]["ordinal"]
    ]
    stop = session.step()
    assert (stop.ordinal, stop.when) == (ordinal, "after")
    assert session.continue_().status == 0  # it is the user's from here on


def test_steps_end_where_the_replay_does(launch: Launch) -> None:
    entries, _ = saved(launch)
    wrong = {**entries[1], "location": "mixed.mlir:1:1"}
    rewrite("my.skips", entries[0], wrong)
    ordinal = int(wrong["ordinal"])
    moves: dict[str, Callable[[Session], Callable[[int], object]]] = {
        "step": lambda session: session.step,
        "continue_": lambda session: session.continue_,
        "goto": lambda session: session.timeline.goto,
    }
    for go in moves:
        session = mixed(launch)
        session.breakpoints.add("tag:fold")
        session.skips.load("my.skips")
        session.start()
        count = 1_000_000 if go != "goto" else ordinal + 5
        with pytest.raises(errors.SkipMismatch, match=r"mixed\.mlir:1:1"):
            moves[go](session)(count)
        assert session.stop is not None and session.stop.ordinal == ordinal
        session.close()


def test_entry_after_the_end(launch: Launch) -> None:
    entries, _ = saved(launch)
    rewrite("my.skips", entries[0], {**entries[2], "ordinal": 9999, "nth": 5})
    session = mixed(launch)
    session.skips.load("my.skips")
    with pytest.raises(errors.SkipMismatch, match=r"has only \d+ actions.*fewer than 5"):
        session.run()
    assert session.stop is not None
    assert (session.stop.when, session.stop.depth) == ("after", 0)
    assert session.target.output() == ""
    assert session.continue_().when == "exit"


def test_batch_fails_with_its_replay(launch: Launch) -> None:
    entries, output = saved(launch)
    session = mixed(launch)
    argv = [COMMAND, "-nx", "--batch", "-ex", "run"]

    def batch(*options: str) -> subprocess.CompletedProcess[str]:
        tool = [str(session.target.tool.path), *session.target.argv[1:]]
        command = [*argv, *options, *tool]
        return subprocess.run(command, capture_output=True, text=True)

    ran = batch("--skips", "my.skips")
    assert ran.returncode == 0
    assert output in ran.stdout
    rewrite("my.skips", entries[0], {**entries[1], "tag": "fold"})
    ran = batch("--skips", "my.skips", "-ex", "echo went on")
    assert ran.returncode == 1
    assert "does not match" in ran.stderr and "went on" not in ran.stdout
    assert output not in ran.stdout
    ran = batch("-ex", "load skips none")
    assert ran.returncode == 1 and "cannot be read" in ran.stderr
