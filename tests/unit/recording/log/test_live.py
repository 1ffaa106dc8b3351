"""The log of a run while it goes on: a recording that grows."""

from __future__ import annotations

import io
import random
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from actiondbg.recording import open_recording
from actiondbg.recording.log.follower import Follower
from actiondbg.recording.log.log import LiveLog, write_log
from tests.fakes.recording.recordings import Action, Operation, fake_recording, write_recording

_START = 16  # bytes, of the file's header


def chunks_of(content: bytes) -> Iterator[bytes]:
    at = _START
    while at < len(content):
        size = struct.unpack_from("<I", content, at + 8)[0]
        yield content[at : at + size]
        at += size


def grow(path: Path, content: bytes, seed: int) -> Iterator[None]:
    """Write the content piece by piece, whole chunks and cut ones."""
    dice = random.Random(seed)
    ends = [_START]
    for chunk in chunks_of(content):
        ends.append(ends[-1] + len(chunk))
    cuts = {0, 7, *ends, *(dice.randrange(len(content)) for _ in range(len(ends)))}
    for cut in sorted(dice.sample(sorted(cuts), dice.randint(1, len(cuts)))):
        path.write_bytes(content[:cut])
        yield
    path.write_bytes(content)


def whole_log(path: Path) -> str:
    out = io.BytesIO()
    write_log(open_recording(path), out)
    return out.getvalue().decode()


def live_log(
    whole: Path, directory: Path, seed: int = 0, each: Callable[[str], object] = len
) -> str:
    """Return the log of a recording that grows; ``each`` is given what it is on the way."""
    growing, log = directory / "growing.adbrec", directory / "live.log"
    growing.write_bytes(b"")
    live = LiveLog(growing, log)
    for _ in grow(growing, whole.read_bytes(), seed):
        live.update()
        each(log.read_text())
    live.finish()
    text = log.read_text()
    assert live.count == text.count("\n")
    return text


@pytest.mark.parametrize("seed", range(8))
def test_the_log_of_a_growing_recording_is_that_of_the_whole(tmp_path: Path, seed: int) -> None:
    whole = fake_recording(tmp_path / "run.adbrec", 6000, seed)
    assert live_log(whole, tmp_path, seed) == whole_log(whole)


def test_log_of_a_growing_recording_only_grows(tmp_path: Path) -> None:
    whole = fake_recording(tmp_path / "run.adbrec", 6000)
    expected = whole_log(whole)
    lengths: list[int] = []
    starts: set[str] = set()

    def check(text: str) -> None:
        lengths.append(len(text))
        starts.add(text[13:24])
        assert text[40:] == expected[40 : len(text)]  # the first one is not over

    assert live_log(whole, tmp_path, 3, check) == expected
    assert lengths == sorted(lengths) and len(set(lengths)) > 3
    assert "unfinished " in starts <= {"", "unfinished ", expected[13:24]}


@pytest.mark.parametrize("seed", range(4))
def test_earlier_ends_are_overwritten(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    actions = [
        Action(
            f"P{n % 7}",
            "pass-execution",
            outcome=dice.choice(["succeeded", "unchanged", "failed"]),
            duration=dice.randrange(10**9),
            patched=dice.random() < 0.5,
        )
        for n in range(400)
    ]
    whole = write_recording(tmp_path / "run.adbrec", actions, chunk=16)
    assert live_log(whole, tmp_path, seed) == whole_log(whole)


@pytest.mark.parametrize(
    "note", [{"reasons": ["why"]}, {"fold": "values", "tag": "fold"}, {"changed": True}]
)
def test_late_rows_are_not_lost(tmp_path: Path, note: dict[str, object]) -> None:
    late = Action("A", outcome="failed", patched=True, **note)  # pyright: ignore[reportArgumentType]
    whole = write_recording(
        tmp_path / "run.adbrec", [late, *(Action("B", depth=1) for _ in range(100))], chunk=8
    )
    log = live_log(whole, tmp_path, 1)
    assert log == whole_log(whole)
    assert log.splitlines()[0].endswith(
        (": why", ": folded to values", ": though it changed the IR")
    )


@pytest.mark.parametrize("seed", range(4))
def test_threads_are_ordered_at_the_end(tmp_path: Path, seed: int) -> None:
    whole = fake_recording(tmp_path / "run.adbrec", 6000, seed, threads=True)
    assert live_log(whole, tmp_path, seed) == whole_log(whole)


def test_killed_tool_keeps_its_written_lines(tmp_path: Path) -> None:
    whole = fake_recording(tmp_path / "run.adbrec", 3000, killed=True)
    content = whole.read_bytes()
    whole.write_bytes(content[: len(content) - 1000])
    log = live_log(whole, tmp_path)
    assert log == whole_log(whole)
    assert log.splitlines()[0].startswith("#1       t0  unfinished         ")


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [1, 3, 100])
def test_an_operation_may_move_to_other_functions(tmp_path: Path, chunk: int) -> None:
    dice = random.Random(chunk)
    operations = [Operation(n, function=f"f{n}") for n in range(1, 6)]
    rows = sorted(dice.sample(range(1, 300), 60))
    operations += [Operation(dice.randrange(1, 6), function=f"g{row}", row=row) for row in rows]
    actions = [Action(operation=dice.randrange(0, 6)) for _ in range(300)]
    whole = write_recording(tmp_path / "run.adbrec", actions, operations, chunk=chunk)
    for seed in range(4):
        assert live_log(whole, tmp_path, seed) == whole_log(whole)


def test_names_that_are_no_text_and_compound_locations(tmp_path: Path) -> None:
    fused = 'loc(fused["a.mlir":1:2, "b.mlir":3:4])'
    operations = [
        Operation(1, location=fused, function="\udcff"),
        Operation(2, line=0, location="loc(unknown)"),
        Operation(3, line=0, file="", function=""),
    ]
    actions = [Action(f"A\udcff{n}", operation=n % 4) for n in range(40)]
    whole = write_recording(tmp_path / "run.adbrec", actions, operations, chunk=5)
    assert live_log(whole, tmp_path) == whole_log(whole)


@pytest.mark.slow
def test_large_recording_is_read_in_pieces(tmp_path: Path) -> None:
    """What came at once is not all held at once."""
    path = fake_recording(tmp_path / "run.adbrec", 600_000)
    follower = Follower(path)
    sizes: list[int] = []
    while (batch := follower.read(final=True)) is not None:
        assert batch.first_row == sum(sizes)
        sizes.append(len(batch.actions.ordinals))
    assert sum(sizes) == 600_000
    assert max(sizes) < 300_000


def test_a_recording_that_never_begins_has_no_lines(tmp_path: Path) -> None:
    live = LiveLog(tmp_path / "growing.adbrec", tmp_path / "log")
    (tmp_path / "growing.adbrec").write_bytes(b"")
    live.update()
    live.finish()
    assert (live.count, (tmp_path / "log").read_bytes()) == (0, b"")


def test_read_rows_are_written_without_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tool waits for something, and has written all that it knows."""
    path = fake_recording(tmp_path / "run.adbrec", 3000, killed=True)
    live = LiveLog(path, tmp_path / "log")
    live.update()
    assert live.count < 3000
    monkeypatch.setattr("actiondbg.recording.log.log._QUIET_SECONDS", 0)
    live.update()
    assert live.count == 3000
    assert (tmp_path / "log").read_text().count("\n") == 3000
    live.finish()
    assert (tmp_path / "log").read_text() == whole_log(path)
