"""Profiles of all formats, as the programs write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.errors import ActiondbgError
from actiondbg.lineage.profiles import Profile, ProfileEntry, ProfileFrame, read_profile

# As perf 6.1 wrote it, cut.
WITH_EVENTS = """\
    250000 cpu-clock:      7f03023fd470 update_active.constprop.0
  cpu-features.c:119
    250000 cpu-clock:      55d44fc2513d matmul
  in.mlir:7
    250000 cpu-clock:      55d44fc25141 matmul
  in.mlir:7
    250000 cpu-clock:  ffffffff81baeeb0 _copy_to_iter
"""
DEFAULT_FIELDS = """\
 a 28914 34602.138332:     250000 cpu-clock:u:      7f03023fd470 update+0x300 (/usr/lib/ld.so.2)
 a 28914 34602.138583:     250000 cpu-clock:u:      55d44fc2513d matmul+0x14 (/home/u/a b)
 a 28914 34602.138583:     250000 cpu-clock:u:      55d44fc2513d [unknown] (/home/u/a b)
"""
CHAINS = """\
a 30444 34822.484973:   10000000 cycles:P: \n\
\t            7f11 expf+0x21 (/usr/lib/libm.so)
\t            114a main+0x21 (/home/u/a)
  in.mlir:4

a 30444 34822.494970:   20000000 cycles:P: \n\
\t            7f11 expf+0x21 (/usr/lib/libm.so)
\t            114a main+0x21 (/home/u/a)
  in.mlir:4

a 30444 34822.494970:   5 instructions: \n\
\t            7f11 expf+0x21 (/usr/lib/libm.so)

"""
ADDRESSES = """\
     7f03023fd470 update_active.constprop.0
     55d44fc2513d add
  in.mlir:7
"""


def _read(tmp_path: Path, text: str) -> Profile:
    path = tmp_path / "profile"
    path.write_text(text)
    return read_profile(path)


def _refused(tmp_path: Path, text: str) -> str:
    with pytest.raises(ActiondbgError) as caught:
        _read(tmp_path, text)
    return str(caught.value)


def test_samples_of_perf_with_lines_are_times_where_the_event_is_a_clock(tmp_path: Path) -> None:
    profile = _read(tmp_path, WITH_EVENTS)
    assert (profile.format, profile.unit, profile.time) == ("perf script", "ns", 1e6)
    assert profile.entries == (
        ProfileEntry(250000, (ProfileFrame("update_active.constprop.0", "cpu-features.c", 119),)),
        ProfileEntry(500000, (ProfileFrame("matmul", "in.mlir", 7),), 2),
        ProfileEntry(250000, (ProfileFrame("_copy_to_iter"),)),
    )


def test_samples_of_perf_without_lines_have_functions(tmp_path: Path) -> None:
    profile = _read(tmp_path, DEFAULT_FIELDS)
    assert [entry.frames[0].function for entry in profile.entries] == ["update", "matmul", ""]
    assert not any(frame.line for entry in profile.entries for frame in entry.frames)


def test_call_chains_keep_their_order_and_other_events_are_left_out(tmp_path: Path) -> None:
    profile = _read(tmp_path, CHAINS)
    assert profile.unit == "cycles"
    assert profile.entries == (
        ProfileEntry(3e7, (ProfileFrame("expf"), ProfileFrame("main", "in.mlir", 4)), 2),
    )


def test_addresses_alone_count_one_sample_each(tmp_path: Path) -> None:
    profile = _read(tmp_path, ADDRESSES)
    assert (profile.unit, profile.time) == ("samples", 2)
    assert profile.entries[1] == ProfileEntry(1, (ProfileFrame("add", "in.mlir", 7),))


def test_json_has_functions_and_lines(tmp_path: Path) -> None:
    short = _read(tmp_path, '{"matmul_1": 0.5, "a/in.mlir:12": 0.25, "C:in.mlir:3:7": 1}')
    assert short.unit == "s"
    assert [entry.frames[0] for entry in short.entries] == [
        ProfileFrame("matmul_1"),
        ProfileFrame(file="a/in.mlir", line=12),
        ProfileFrame(file="C:in.mlir", line=3),
    ]
    assert _read(tmp_path, '{"unit": "ms", "times": {"f": 2}}').unit == "ms"
    listed = '[{"function": "f", "time": 2, "count": 3}, {"file": "a", "line": 4, "time": 1}]'
    assert _read(tmp_path, listed).entries == (
        ProfileEntry(2, (ProfileFrame("f"),), 3),
        ProfileEntry(1, (ProfileFrame(file="a", line=4),)),
    )


def test_exports_of_tracy_have_zones_with_lines(tmp_path: Path) -> None:
    profile = _read(
        tmp_path,
        "name,src_file,src_line,total_ns,total_perc,counts,mean_ns,min_ns,max_ns,std_ns\n"
        "main_dispatch_0_matmul,/tmp/snapshot.mlir,9,5000,80.1,5,1000,900,1100,3.5\n",
    )
    assert (profile.format, profile.unit) == ("Tracy's CSV", "ns")
    frame = ProfileFrame("main_dispatch_0_matmul", "/tmp/snapshot.mlir", 9)
    assert profile.entries == (ProfileEntry(5000, (frame,), 5),)
    each = "name,src_file,src_line,ns_since_start,exec_time_ns,thread\nz,f,1,10,3,1\nz,f,1,20,4,1\n"
    assert _read(tmp_path, each).entries == (ProfileEntry(7, (ProfileFrame("z", "f", 1),), 2),)


def test_counts_of_dispatches_may_name_their_columns_in_several_ways(tmp_path: Path) -> None:
    profile = _read(tmp_path, "dispatch;workgroups;time_us\nmain$async_dispatch_0;64;12.5\n")
    assert profile.unit == "us"
    assert profile.entries == (ProfileEntry(12.5, (ProfileFrame("main$async_dispatch_0"),), 64),)
    assert _read(tmp_path, "function,calls,seconds\nf,2,0.5\n").entries[0].occurrences == 2


def test_counted_lines_are_samples(tmp_path: Path) -> None:
    profile = _read(
        tmp_path, "    495 /a b/in.mlir:140 (discriminator 2)\n      3 ??:0\n      2 in.mlir:?\n"
    )
    assert (profile.format, profile.unit, profile.time) == ("counted lines", "samples", 500)
    frames = [entry.frames[0] for entry in profile.entries]
    assert frames == [
        ProfileFrame(file="/a b/in.mlir", line=140),
        ProfileFrame(),
        ProfileFrame("in.mlir"),
    ]


def test_what_is_no_profile_is_refused_with_the_way_out(tmp_path: Path) -> None:
    assert "has no known format of profiles" in _refused(tmp_path, "hello\n")
    assert "has no known format of profiles" in _refused(tmp_path, "f(a, b), c\n")
    assert "has no time in it" in _refused(tmp_path, "{}")
    assert "is not valid JSON" in _refused(tmp_path, '{"f": 1')
    assert "is not valid JSON" in _refused(tmp_path, "[" * 100_000)
    assert "The time of f in" in _refused(tmp_path, '{"f": "long"}')
    assert "is -1: give a number from 0." in _refused(tmp_path, '{"f": -1}')
    assert "The time of f in" in _refused(tmp_path, '{"f": 1e999}')
    assert "The time of f in" in _refused(tmp_path, f'{{"f": {10**400}}}')
    assert "has no column of a time (it has name, size)" in _refused(tmp_path, "name,size\nf,1\n")
    assert "Row 2 of" in _refused(tmp_path, "name,total_ns\nf,fast\n")
    assert "is not valid CSV" in _refused(tmp_path, f"name,total_ns\n{'f' * 200_000},1\n")
    assert "has no known format" in _refused(tmp_path, f"{'f' * 200_000},total_ns\n")
    assert "entry 1 of" in _refused(tmp_path, '[{"place": "f", "time": 1}]')
    (tmp_path / "perf.data").write_bytes(b"PERFILE2....")
    with pytest.raises(ActiondbgError, match="perf script -i"):
        read_profile(tmp_path / "perf.data")
    with pytest.raises(ActiondbgError, match="cannot be read"):
        read_profile(tmp_path / "absent")
