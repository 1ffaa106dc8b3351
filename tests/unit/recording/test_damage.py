"""Recordings that were cut, damaged, or are none: one sentence, and what there is is read."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from actiondbg.recording import DamagedError, RecordingError, open_recording
from actiondbg.recording.format.file import read_file
from actiondbg.recording.log.tally import Tally
from actiondbg.recording.report import report_page
from actiondbg.recording.tables.snapshots import IRTexts
from tests.elements import some
from tests.fakes.recording.chunks import checksum, chunk_bytes
from tests.fakes.recording.recordings import Action, fake_recording, write_recording

START = 16  # bytes before the first chunk


def offsets(content: bytes) -> list[int]:
    """Return where the chunks of a recording begin, and where it ends."""
    found = [START]
    while found[-1] < len(content):
        found.append(found[-1] + struct.unpack_from("<I", content, found[-1] + 8)[0])
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Ten actions, two a chunk: the first and the last chunk have none."""
    return write_recording(tmp_path / "run.adbrec", [Action() for _ in range(10)], chunk=2)


@pytest.mark.slow
def test_every_cut_is_read_up_to_its_last_whole_chunk(path: Path) -> None:
    content = path.read_bytes()
    starts = offsets(content)
    assert len(starts) > 5
    around = {start + near for start in starts[1:-1] for near in (-1, 0, 1, 63, 64, 65)}
    for length in some(sorted({*around, *range(starts[1], len(content), 17)} - {starts[1] - 1})):
        path.write_bytes(content[:length])
        recording = open_recording(path)
        whole = sum(start <= length for start in starts[2:-1])
        assert recording.count == 2 * min(whole, 5)
        assert recording.table("actions").num_rows == recording.count
        assert recording.ending.ended == "killed"
        assert recording.cut is not None and f"{recording.count:,} actions" in recording.cut
        assert ("in the middle" in recording.cut) == (length not in starts)


def test_actions_that_come_twice(path: Path) -> None:
    """So they do where two recorders wrote into one file."""
    content = path.read_bytes()
    starts = offsets(content)
    path.write_bytes(content[: starts[4]] + content[starts[2] :])
    with pytest.raises(DamagedError, match="its actions come twice"):
        open_recording(path)
    recording = open_recording(path, partial=True)
    assert recording.table("actions")["ordinal"].to_pylist() == [1, 2, 3, 4, 5, 6]


def test_truncated_header(path: Path) -> None:
    content = path.read_bytes()
    for length in (12, 16, 60, offsets(content)[1] - 1):
        path.write_bytes(content[:length])
        with pytest.raises(RecordingError, match=r"was cut within its (header|first bytes)"):
            open_recording(path)


@pytest.mark.parametrize("unit", [1, 8])
def test_no_bit_before_the_first_chunk_changes_an_answer(tmp_path: Path, unit: int) -> None:
    path = write_recording(tmp_path / "run.adbrec", [Action(duration=800)], unit=unit)
    content = path.read_bytes()
    for bit in some(range(8 * START)):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(RecordingError):
            open_recording(path)


def test_zeros_at_the_end_are_a_cut(path: Path) -> None:
    """So does a file look whose length reached the disk before its content."""
    content = path.read_bytes()
    end = offsets(content)[4]
    for rest in (bytes(300), content[end : end + 40] + bytes(30), content[end:-40] + bytes(40)):
        path.write_bytes(content[:end] + rest)
        assert open_recording(path).count >= 6


def test_damage_is_reported_with_its_place_and_the_readable_part(path: Path) -> None:
    content = bytearray(path.read_bytes())
    place = offsets(bytes(content))[4]
    content[place + 90] ^= 1
    path.write_bytes(content)
    with pytest.raises(DamagedError) as caught:
        open_recording(path)
    assert str(caught.value) == (
        f"'{path}' is damaged at byte {place} (the checksum of a chunk is wrong): "
        "the actions up to #6 can be read, use --partial to read these."
    )
    assert (caught.value.offset, caught.value.readable) == (place, 6)
    recording = open_recording(path, partial=True)
    assert recording.count == 6
    assert recording.cut == (
        f"The recording is damaged at byte {place} (the checksum of a chunk is wrong): "
        "it is read up to there (6 actions)."
    )


@pytest.mark.parametrize("offset", [0, 4, 8, 12, 16, 24, 32, 40, 48, 56, 64, 70, 100])
def test_each_field_of_a_chunk_is_guarded(path: Path, offset: int) -> None:
    content = bytearray(path.read_bytes())
    place = offsets(bytes(content))[2]
    content[place + offset] ^= 0x40
    path.write_bytes(content)
    with pytest.raises(DamagedError) as caught:
        open_recording(path)
    assert caught.value.offset == place


def test_any_flipped_bit_is_noticed(tmp_path: Path) -> None:
    path = fake_recording(tmp_path / "run.adbrec", 3000, ir="changed", events=["a"])
    content = path.read_bytes()
    last = offsets(content)[-2]
    dice = random.Random(1)
    for _ in range(60):
        broken = bytearray(content)
        broken[dice.randrange(START, last)] ^= 1 << dice.randrange(8)
        path.write_bytes(broken)
        with pytest.raises(RecordingError):
            open_recording(path)


def test_random_bytes_after_the_start(path: Path) -> None:
    """Nothing but the one error, whatever is there."""
    dice = random.Random(2)
    start = path.read_bytes()[: offsets(path.read_bytes())[1]]
    for size in (1, 63, 64, 100, 5000):
        path.write_bytes(start + dice.randbytes(size))
        try:
            assert open_recording(path).count == 0
        except DamagedError as error:
            assert size >= 64 and error.offset == len(start)


def test_wrong_length_of_a_chunk_is_damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    place = offsets(bytes(content))[3]
    struct.pack_into("<I", content, place + 8, 1 << 30)
    path.write_bytes(content)
    with pytest.raises(DamagedError, match="bytes cannot be there"):
        open_recording(path)


@pytest.mark.parametrize(
    ("section", "why"),
    [
        ((5, 24, 1, bytes(24)), "items of 24 bytes"),
        ((5, 20, 3, bytes(20)), "items of 20 bytes"),
    ],
)
def test_invalid_section(path: Path, section: tuple[int, int, int, bytes], why: str) -> None:
    with path.open("ab") as file:
        file.write(chunk_bytes(0, [section], first_row=10) + chunk_bytes(0, []))
    with pytest.raises(DamagedError, match=why):
        open_recording(path)


def test_invalid_packed_numbers(path: Path) -> None:
    with path.open("ab") as file:
        file.write(chunk_bytes(0, [(7, 0, 2, b"\1\2\3")], first_row=10))
    recording = open_recording(path)
    with pytest.raises(RecordingError, match="3 packed numbers where 10 are expected"):
        recording.table("changes")


@pytest.mark.parametrize(
    ("kind", "count", "entry"),
    [
        (2, 1, struct.pack("<IHHI", 1, 1, 0, 9999)),
        (2, 2, struct.pack("<IHHI", 1, 1, 0, 0)),
        (9, 1, struct.pack("<QIIII", 1, 9999, 9999, 0, 0)),
        (9, 2, struct.pack("<QIIII", 1, 0, 0, 0, 0)),
    ],
)
def test_an_entry_longer_than_its_section(path: Path, kind: int, count: int, entry: bytes) -> None:
    with path.open("ab") as file:
        file.write(chunk_bytes(0, [(kind, 0, count, entry)], first_row=10))
    with pytest.raises(RecordingError, match=r"is damaged in the section at byte .* record it"):
        open_recording(path)
        IRTexts(read_file(path)).get(1)


def test_the_report_of_an_action_without_its_name(path: Path) -> None:
    content = bytearray(path.read_bytes())
    text = content.index(b"apply-pattern\0")
    struct.pack_into("<I", content, text - 12, 77)  # the id of the string
    first, end = offsets(bytes(content))[1:3]
    assert first < text < end
    struct.pack_into("<Q", content, first + 16, checksum(bytes(content[first:end])))
    path.write_bytes(content)
    recording = open_recording(path)
    assert recording.table("actions", ["name"]).column("name").null_count == recording.count
    assert '"names":[[null,"?"]]' in report_page(recording).html


def test_files_that_are_no_recordings(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for content, told in (
        (b"", "is empty"),
        (b"\x7fELF\2\1\1\0....", "is not a recording .it begins with b'.x7fELF"),
        (b"ADBREC\r\n", "was cut within its first bytes"),
        (b"ADBREC\r\n" + struct.pack("<II", 3, 8), "has version 3 .* use a newer actiondbg"),
        (b"ADBREC\r\n" + struct.pack("<II", 0, 8), "is damaged at byte 8"),
        (b"ADBREC\r\n" + struct.pack("<II", 1, 8), "was cut within its header"),
        (b"ADBREC\r\n" + struct.pack("<II", 1, 8) + chunk_bytes(0, []), "its header is missing"),
    ):
        path.write_bytes(content)
        with pytest.raises(RecordingError, match=told):
            open_recording(path)
    for other, told in ((tmp_path, "Is a directory"), (tmp_path / "y", "No such file")):
        with pytest.raises(RecordingError, match=f"cannot be read .{told}"):
            open_recording(other)


@pytest.mark.parametrize("header", [b"{", b"[]", b'{"pid": "x"}', b"\xff"])
def test_unreadable_header(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "x"
    start = b"ADBREC\r\n" + struct.pack("<II", 1, 8)
    path.write_bytes(start + chunk_bytes(0, [(1, 0, 1, header)]))
    with pytest.raises(DamagedError, match="its header: "):
        open_recording(path)


# --- rows that are missing in the middle --------------------------------------------------


def test_lost_rows_omit_their_ordinals(tmp_path: Path) -> None:
    actions = [
        Action("outer", "pass-execution", duration=2500),
        *(Action(f"inner {i}", depth=1) for i in range(1, 7)),
        Action("next", "pass-execution", duration=2500),
        Action("last", depth=1),
    ]
    path = write_recording(tmp_path / "run.adbrec", actions, chunk=3)
    content = path.read_bytes()
    starts = offsets(content)
    path.write_bytes(content[: starts[2]] + content[starts[3] :])  # without the rows 3 to 5
    recording = open_recording(path)
    table = recording.table("actions", ["ordinal", "name", "parent"]).to_pylist()
    assert [row["ordinal"] for row in table] == [1, 2, 3, 7, 8, 9]
    # The pass was over before what stands behind the gap: what that is nested in is lost.
    assert [row["parent"] for row in table] == [None, 1, 1, None, None, 8]
    assert recording.cut == "The recording lacks 3 actions in its middle."


# --- how much there is, without reading it --------------------------------------------------


def test_the_tally_of_a_recording_that_grows(path: Path) -> None:
    content = path.read_bytes()
    starts = offsets(content)
    path.unlink()
    tally = Tally(path)
    tally.update()
    assert (tally.actions, tally.ended) == (0, False)
    for length in some(range(0, len(content), 7)):
        path.write_bytes(content[:length])
        tally.update()
        whole = [start for start in starts if start <= length]
        assert tally.size == max([START, *whole])
        assert tally.actions == 2 * min(5, max(0, len(whole) - 2))
    path.write_bytes(content)
    tally.update()
    assert (tally.actions, tally.size, tally.ended) == (10, len(content), True)
