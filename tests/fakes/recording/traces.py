"""Traces as their readers see them, and what should be in them, found out the slow way."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHANGES = ("inserted", "erased", "replaced", "modified", "moved")


@dataclass
class Slice:
    """A slice; ``parent`` is the ordinal of the slice that it is nested in, 0 for none."""

    ordinal: int
    name: str
    category: str
    thread: int
    parent: int
    arguments: dict[str, Any] = field(default_factory=dict)
    start: int = 0  # ns
    end: int = 0


def by_ordinal(slices: Iterable[Slice]) -> dict[int, Slice]:
    return {each.ordinal: each for each in slices}


def check_slices(found: dict[int, Slice], wanted: dict[int, Slice], drift: float = 0) -> None:
    """Compare the slices of a trace with those that should be there.

    Times that coincide are moved by a nanosecond each, so that no two of a thread are the same.

    Args:
        found: by ordinal.
        wanted: by ordinal.
        drift: how much the clock may differ, as a part of the time: its rate is measured again for
            each part of a run that is followed.
    """
    assert found.keys() == wanted.keys()
    most = 2 * len(wanted)
    for ordinal, want in wanted.items():
        each = found[ordinal]
        assert dataclasses.replace(each, start=0, end=0) == dataclasses.replace(
            want, start=0, end=0
        )
        moved = (each.start - want.start, each.end - want.end)
        drifted = drift * want.end
        assert -drifted <= min(moved) and max(moved) <= most + drifted, (each, want)


# --- what should be there -----------------------------------------------------------------


def expected(recording: Any, failed: str = "fold", minimum: int = 0) -> dict[int, Slice]:
    """Return what the slices of a recording should be, with the times as recorded."""
    rows = recording.table("actions").to_pylist()
    reasons: dict[int, list[str]] = {}
    for each in recording.table("reasons").to_pylist():
        reasons.setdefault(each["ordinal"], []).append(each["reason"])
    runs = [[row] for row in rows]
    if failed == "fold":
        runs = list(_folded(rows))
    slices: dict[int, Slice] = {}
    parent_of = {row["ordinal"]: row["parent"] for row in rows}
    thread_of = {row["ordinal"]: row["thread"] for row in rows}
    for run in runs:
        first, last = run[0], run[-1]
        if failed == "drop" and _is_attempt(first, rows):
            continue
        unfinished = first["duration_ns"] is None
        length = last["start_ns"] + (last["duration_ns"] or 0) - first["start_ns"]
        if not unfinished and length < minimum:
            continue
        each = slices[first["ordinal"]] = _slice(run, reasons)
        each.start = first["start_ns"]
        each.end = _last_time(first, rows) if unfinished else each.start + length
    for each in slices.values():
        parent = parent_of[each.ordinal]
        while parent is not None and parent not in slices:
            parent = parent_of[parent]
        is_near = parent is not None and thread_of[parent] == each.thread
        each.parent = parent if parent is not None and is_near else 0
    return slices


def _last_time(row: dict[str, Any], rows: list[dict[str, Any]]) -> int:
    """Return the end of an unfinished action: where its thread continues outside it, or at last."""
    for other in rows[row["ordinal"] :]:
        if other["thread"] == row["thread"] and other["depth"] <= row["depth"]:
            return other["start_ns"]
    return max(each["start_ns"] + (each["duration_ns"] or 0) for each in rows)


def _is_attempt(row: dict[str, Any], rows: list[dict[str, Any]]) -> bool:
    plain = row["outcome"] == "failed" and row["tag"] != "pass-execution"
    return plain and not row["changed"] and not row["rolled_back"] and _is_leaf(row, rows)


def _is_leaf(row: dict[str, Any], rows: list[dict[str, Any]]) -> bool:
    for after in range(row["ordinal"], len(rows)):
        other = rows[after]
        if other["thread"] == row["thread"]:
            return other["depth"] <= row["depth"] or other["parent"] != row["ordinal"]
    return True


def _folded(rows: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    last: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        run = last.get(row["thread"])
        attempt = _is_attempt(row, rows) and row["operation"] is not None
        same = run and all(run[0][key] == row[key] for key in ("operation", "parent"))
        if run and same and attempt and _is_attempt(run[0], rows):
            run.append(row)
            continue
        if run:
            yield run
        last[row["thread"]] = [row]
    yield from last.values()


def _slice(run: list[dict[str, Any]], reasons: dict[int, list[str]]) -> Slice:
    first = run[0]
    name = first["name"] or first["tag"]
    if first["tag"] == "fold":
        name = f"fold {name}"
    said = {"operation": first["op"], "operation_id": first["operation"]}
    if first["file"] is not None:
        said["location"] = f"{first['file']}:{first['line']}:{first['col']}"
    said |= {"function": first["function"], "outcome": first["outcome"], "fold": first["fold"]}
    said |= {key: True for key in ("rolled_back",) if first[key]}
    if first["duration_ns"] is None:
        said["unfinished"] = True
    category = first["tag"]
    if len(run) > 1:
        name, category = f"{len(run)} attempts failed on {first['op']}", "failed-attempts"
        said |= {"attempts": len(run), "last_ordinal": run[-1]["ordinal"]}
        said["patterns"] = _tally(run, reasons)
    else:
        said |= {kind: first[kind] or None for kind in CHANGES}
        said["reason"] = "; ".join(_counted(reasons.get(first["ordinal"], []))) or None
    arguments = {key: value for key, value in said.items() if value is not None}
    return Slice(first["ordinal"], name, category, first["thread"], 0, arguments)


def _tally(run: list[dict[str, Any]], reasons: dict[int, list[str]]) -> str:
    words: list[str] = []
    for row in run:
        name = "fold" if row["tag"] == "fold" else row["name"] or row["tag"]
        why = "; ".join(_counted(reasons.get(row["ordinal"], [])))
        words.append(f"{name} ({why})" if why else name)
    return "; ".join(_counted(words))


def _counted(words: list[str]) -> list[str]:
    return [w if n == 1 else f"{n} {w}" for w, n in Counter(words).most_common()]


# --- Chrome's JSON ------------------------------------------------------------------------


def read_json(path: Path) -> dict[str, Any]:
    """Read JSON strictly: valid UTF-8, no NaN, no name twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(pairs) == len(dict(pairs)), pairs
        return dict(pairs)

    def refuse(word: str) -> None:
        raise AssertionError(word)

    text = path.read_bytes().decode("utf-8")
    return json.loads(text, object_pairs_hook=once, parse_constant=refuse, parse_float=str)


def chrome_slices(content: dict[str, Any]) -> list[Slice]:
    """Return the slices, nested by their times alone."""
    found = [
        Slice(
            event["args"].pop("ordinal"),
            event["name"],
            event["cat"],
            event["tid"] - event["pid"],
            0,
            event["args"],
            _ns(event["ts"]),
            _ns(event["ts"]) + _ns(event["dur"]),
        )
        for event in content["traceEvents"]
        if event["ph"] == "X"
    ]
    nest(found)
    return found


def _ns(us: str) -> int:
    whole, decimals = us.split(".")
    assert len(decimals) == 3
    return int(whole) * 1000 + int(decimals)


def nest(slices: list[Slice]) -> None:
    """Set the parents by the times; any two slices of a thread lie apart, or one in the other."""
    stacks: dict[int, list[Slice]] = {}
    for each in sorted(slices, key=lambda one: one.start):
        stack = stacks.setdefault(each.thread, [])
        while stack and stack[-1].end < each.start:
            stack.pop()
        assert each.start < each.end
        if stack:
            assert stack[-1].start < each.start and each.end < stack[-1].end
            each.parent = stack[-1].ordinal
        stack.append(each)


# --- what Tracy's importer makes of it ----------------------------------------------------


def tracy_zones(content: dict[str, Any]) -> list[tuple[str, str, int, str, int]]:
    """Return the zones as tracy-import-chrome makes them: name, file, line, text and depth.

    Source: import/src/import-chrome.cpp, and the constructor of Worker that it calls.
    """
    timeline: list[tuple[int, int, tuple[str, str, int, str] | None]] = []
    for event in content["traceEvents"]:
        pid, tid = event["pid"], event["tid"]
        assert isinstance(pid, int) and isinstance(tid, int) and 0 <= max(pid, tid) < 2**32
        if event["ph"] != "X":
            assert event["ph"] == "M"
            continue
        start = int(float(event["ts"]) * 1000.0)
        end = start + int(float(event["dur"]) * 1000.0)
        text = "".join(
            f"{key}: {value if isinstance(value, str) else json.dumps(value)}\n"
            for key, value in event["args"].items()
        )
        file, _, line = event.get("loc", "").rpartition(":")
        if not file:
            file, line = line, "0"
        timeline.append((start, tid, (event["name"], file, int(line), text)))
        timeline.append((end, tid, None))
    timeline.sort(key=lambda each: each[0])
    zones: list[tuple[str, str, int, str, int]] = []
    stacks: dict[int, int] = {}
    for _, tid, zone in timeline:
        depth = stacks.get(tid, 0)
        if zone is not None:
            zones.append((*zone, depth))
        stacks[tid] = depth + (1 if zone is not None else -1)
    assert not any(stacks.values())
    return zones


# --- Perfetto's protobuf ------------------------------------------------------------------

_INTERNED = {
    "event_categories": "name",
    "event_names": "name",
    "debug_annotation_names": "name",
    "debug_annotation_string_values": "str",
    "source_locations": "file_name",
}
_KNOWN_PACKETS = {"clock_snapshot", "track_descriptor", "track_event", "interned_data"}


@dataclass
class PerfettoTrace:
    """What stands in a trace: slices, flows by operation, and the descriptors of tracks."""

    slices: list[Slice]
    flows: dict[int, list[int]]
    tracks: dict[int, Any]
    places: dict[int, tuple[str, int]]  # of slices: the file and the line


def read_perfetto(path: Path) -> PerfettoTrace:
    """Read a trace strictly by the published schema: no field is unknown, all texts are interned.

    Begins and ends are matched as Perfetto does: an end ends the innermost slice of its track.
    """
    from google.protobuf import unknown_fields
    from perfetto.protos.perfetto.trace import (  # pyright: ignore[reportMissingTypeStubs]
        perfetto_trace_pb2 as schema,
    )

    trace = schema.Trace.FromString(path.read_bytes())
    _refuse_unknown(trace, unknown_fields)
    interned: dict[str, dict[int, Any]] = {kind: {} for kind in _INTERNED}
    tracks: dict[int, Any] = {}
    events: list[tuple[int, int, Any, dict[str, dict[int, Any]]]] = []
    for packet in trace.packet:
        fields = {each.name for each, _ in packet.ListFields()}
        assert fields - {"timestamp", "trusted_packet_sequence_id", "sequence_flags"} <= (
            _KNOWN_PACKETS
        ), fields
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        for kind in _INTERNED:
            for entry in getattr(packet.interned_data, kind):
                assert entry.iid and entry.iid not in interned[kind], (kind, entry)
                interned[kind][entry.iid] = entry
        if packet.HasField("track_event"):
            assert packet.trusted_packet_sequence_id == 1 and packet.sequence_flags == 2
            assert packet.track_event.track_uuid in tracks
            events.append((packet.timestamp, len(events), packet.track_event, interned))
    return _matched(events, tracks)


def _refuse_unknown(message: Any, unknown_fields: Any) -> None:
    assert not len(unknown_fields.UnknownFieldSet(message)), message
    for descriptor, value in message.ListFields():
        if descriptor.message_type is not None:
            values = [value] if hasattr(value, "ListFields") else value
            for each in values:
                _refuse_unknown(each, unknown_fields)


def _matched(events: list[Any], tracks: dict[int, Any]) -> PerfettoTrace:
    slices: list[Slice] = []
    flows: dict[int, list[int]] = {}
    places: dict[int, tuple[str, int]] = {}
    stacks: dict[int, list[Slice]] = {}
    times: set[tuple[int, int]] = set()
    for at, _, event, interned in sorted(events, key=lambda each: each[:2]):
        track = tracks[event.track_uuid].thread
        stack = stacks.setdefault(event.track_uuid, [])
        assert (event.track_uuid, at) not in times
        times.add((event.track_uuid, at))
        if event.type == 2:
            stack.pop().end = at
            continue
        assert event.type == 1
        said = dict(_annotation(each, interned) for each in event.debug_annotations)
        assert len(said) == len(event.debug_annotations)
        each = Slice(
            said.pop("ordinal"),
            interned["event_names"][event.name_iid].name,
            interned["event_categories"][event.category_iids[0]].name,
            track.tid - track.pid,
            stack[-1].ordinal if stack else 0,
            said,
            at,
        )
        if event.source_location_iid:
            place = interned["source_locations"][event.source_location_iid]
            places[each.ordinal] = (place.file_name, place.line_number)
        for flow in event.flow_ids:
            flows.setdefault(flow, []).append(each.ordinal)
        slices.append(each)
        stack.append(each)
    assert not any(stacks.values())
    return PerfettoTrace(slices, flows, tracks, places)


def _annotation(annotation: Any, interned: dict[str, dict[int, Any]]) -> tuple[str, Any]:
    name = interned["debug_annotation_names"][annotation.name_iid].name
    kind = annotation.WhichOneof("value")
    value = getattr(annotation, kind)
    if kind == "string_value_iid":
        value = interned["debug_annotation_string_values"][value].str.decode("utf-8")
    return name, value
