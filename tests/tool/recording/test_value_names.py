"""The names of values in recorded IR: those that a live session shows at the same stops."""

from __future__ import annotations

import lzma
import os
import random
import re
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

import pytest

import actiondbg
from actiondbg.errors import NoSuchUnit, NotRecorded
from actiondbg.ir.printed import Excerpt
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from actiondbg.recording.session import open_session
from actiondbg.recording.session.recorded_session import RecordedSession
from tests.conftest import FOLDS, LIBRARY
from tests.elements import some
from tests.fakes import command_line
from tests.paths import INPUTS

BUILDS = LIBRARY

Stops = list[tuple[int, Literal["before", "after"]]]

SCOPES = """\
func.func @first(%x: i32, %y: i32) -> i32 {
  %c = arith.constant 0 : i32
  %sum = arith.addi %x, %c : i32
  %5 = arith.muli %sum, %y : i32
  %6 = arith.addi %5, %y : i32
  %seven = arith.constant 7 : i32
  %8 = arith.addi %6, %seven : i32
  %9 = arith.addi %8, %seven : i32
  return %9 : i32
}
func.func @second(%x: i32, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> i32 {
    %sum = arith.addi %acc, %x : i32
    scf.yield %sum : i32
  }
  %q:2 = "test.two"(%r) : (i32) -> (i32, i32)
  %left, %right = "test.two"(%q#1) : (i32) -> (i32, i32)
  %t = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %right) -> i32 {
    %z = arith.constant 0 : i32
    %sum = arith.muli %acc, %x : i32
    %w = arith.addi %sum, %z : i32
    scf.yield %w : i32
  }
  return %t : i32
}
"""
BLOCKS = """\
func.func @branches(%0: i32, %1: i1) -> i32 {
  %c2 = arith.constant 2 : i32
  cf.cond_br %1, ^left(%0 : i32), ^right
^left(%9: i32):
  %2 = arith.addi %9, %c2 : i32
  %3 = arith.addi %2, %c2 : i32
  cf.br ^end(%3 : i32)
^right:
  %4 = arith.muli %0, %c2 : i32
  cf.br ^end(%4 : i32)
^end(%7: i32):
  %8 = arith.addi %7, %c2 : i32
  return %8 : i32
}
"""
UNREGISTERED = "--allow-unregistered-dialect"
GREEDY = ("--canonicalize", "--cse", UNREGISTERED)
FUNCTIONS = ("--pass-pipeline=builtin.module(func.func(canonicalize,cse,sccp))", UNREGISTERED)
LOWERED = ("--convert-scf-to-cf", "--canonicalize", "--cse", UNREGISTERED)
NETWORK = (
    "--pass-pipeline=builtin.module(canonicalize,cse,func.func(linalg-generalize-named-ops,"
    "linalg-fuse-elementwise-ops),canonicalize)",
)


class Both(NamedTuple):
    """A live session and a recording of the same command; with threads, ordinals would differ."""

    live: actiondbg.Session
    recorded: RecordedSession

    def goto(self, ordinal: int, when: Literal["before", "after"]) -> None:
        for each in self:
            each.timeline.goto(ordinal, when)


@contextmanager
def both(argv: list[str], *, ir: Literal["changed", "function"] = "function") -> Generator[Both]:
    argv = [*argv, "--mlir-disable-threading"]
    done = record(argv, "run.adbrec", ir=ir, stdout=os.devnull)
    assert done.status == 0 and done.path is not None
    with ExitStack() as stack:
        live = stack.enter_context(actiondbg.launch(argv, stdout=os.devnull))
        live.run()
        yield Both(live, stack.enter_context(open_session(done.path)))


def random_stops(path: str, rng: random.Random, count: int) -> Stops:
    """Return places around actions that changed IR, and around others."""
    table = open_recording(path).table("actions", ["ordinal", "changed"])
    ordinals, changed = (table[name].to_pylist() for name in ("ordinal", "changed"))
    those = [one for one, has in zip(ordinals, changed, strict=True) if has]
    chosen = [rng.choice(those) for _ in range(count)] + rng.sample(ordinals, count // 4)
    rng.shuffle(chosen)
    return [(ordinal, rng.choice(("before", "after"))) for ordinal in chosen]


def as_recorded(text: str) -> str:
    """Return IR with its aliases of attributes in their places, as in recordings."""
    defined = dict(re.findall(r"^(#map\d*) = (.*)\n", text, re.M))
    body = re.sub(r"^#map\d* = .*\n", "", text, flags=re.M)
    return re.sub(r"#map\d*\b", lambda found: defined[found[0]], body)


def current(excerpt: Excerpt) -> str:
    return as_recorded(excerpt.lines[excerpt.current].text)


def compare(both: Both, stops: Stops) -> int:
    """Print the function at stops in both; return at how many the recording has it."""
    compared = 0
    for ordinal, when in stops:
        both.goto(ordinal, when)
        try:
            recorded = both.recorded.ir.print("function").text
        except NotRecorded:
            continue
        # In a conversion, IR need not be valid.
        live = both.live.ir.print("function", elide=16, generic=recorded.startswith('"'))
        assert recorded == as_recorded(live.text), f"{when} #{ordinal}"
        compared += 1
    return compared


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("source", "passes"),
    [
        (FOLDS, GREEDY),
        (SCOPES, GREEDY),
        (SCOPES, FUNCTIONS),
        (SCOPES, LOWERED),
        (BLOCKS, FUNCTIONS),
    ],
    ids=["folds", "scopes", "functions", "lowered", "blocks"],
)
def test_a_recording_names_values_as_a_live_session(
    mlir_opt: str, work: Path, source: str, passes: tuple[str, ...], seed: int
) -> None:
    (work / "in.mlir").write_text(source)
    with both([mlir_opt, "in.mlir", *passes]) as sessions:
        stops = random_stops("run.adbrec", random.Random(seed), 12)
        assert compare(sessions, stops) > 3


def test_names_of_a_network_are_those_of_a_live_session(mlir_opt: str, work: Path) -> None:
    packed = (INPUTS / "resnet18_fwd.linalg.mlir.xz").read_bytes()
    (work / "in.mlir").write_bytes(lzma.decompress(packed))
    with both([mlir_opt, "in.mlir", *NETWORK]) as sessions:
        stops = random_stops("run.adbrec", random.Random(1), 4)
        assert compare(sessions, stops) > 1


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def meanings(session: actiondbg.Session | RecordedSession, names: list[str]) -> list[object]:
    """Return what names mean at the stop: the id of an operation, or the kind of the error."""
    found: list[object] = []
    for name in names:
        session.cursor.move("action")
        try:
            found.append(session.cursor.goto(name).unit.id)
        except (NoSuchUnit, NotRecorded) as error:
            found.append(type(error).__name__)
    return found


@pytest.mark.parametrize("passes", [GREEDY, FUNCTIONS], ids=["module", "functions"])
def test_a_name_means_the_same_value_as_in_a_live_session(
    mlir_opt: str, work: Path, passes: tuple[str, ...]
) -> None:
    (work / "in.mlir").write_text(SCOPES)
    names = sorted(set(re.findall(r"^ *(%\w+)(?::2)? =", SCOPES, re.M)) | {"%left", "%nothing"})
    with both([mlir_opt, "in.mlir", *passes]) as sessions:
        answers = 0
        for stop in some(random_stops("run.adbrec", random.Random(3), 8)):
            sessions.goto(*stop)
            live, recorded = (meanings(each, names) for each in sessions)
            assert live.count("NotRecorded") == 0
            for name, there, here in some(zip(names, live, recorded, strict=True)):
                assert here in (there, "NotRecorded"), f"{name} at {stop}"
                answers += here != "NotRecorded"
        assert answers > 40


def test_a_recorded_stop_shows_operations_under_their_names(mlir_opt: str, work: Path) -> None:
    (work / "in.mlir").write_text(SCOPES)
    with both([mlir_opt, "in.mlir", *FUNCTIONS]) as sessions:
        shown = 0
        for stop in some(random_stops("run.adbrec", random.Random(5), 8)):
            sessions.goto(*stop)
            try:
                recorded = sessions.recorded.ir.excerpt(before=1, after=1)
            except NotRecorded:
                continue
            live = sessions.live.ir.excerpt(before=1, after=1)
            assert current(recorded) == current(live)
            live_unit, own = (each.cursor.get().unit for each in sessions)
            if live_unit.kind == "operation":
                assert (own.text or "").strip() == (live_unit.text or "").strip()
                printed = [each.ir.print("cursor").text.strip() for each in sessions]
                assert printed[0] == printed[1]
            shown += 1
        assert shown > 3


def test_diffs_have_the_names_of_a_live_session(mlir_opt: str, work: Path) -> None:
    (work / "in.mlir").write_text(SCOPES)
    with both([mlir_opt, "in.mlir", *FUNCTIONS]) as sessions:
        sessions.recorded.run()
        table = open_recording("run.adbrec").table("ir", ["ordinal"])
        for ordinal in some(sorted(set(table["ordinal"].to_pylist()))):
            live, recorded = (each.past.diff(ordinal) for each in sessions)
            assert recorded.unified() == live.unified(), f"#{ordinal}"


def test_lines_of_changed_operations_have_names_of_the_input_or_ids(
    mlir_opt: str, work: Path
) -> None:
    (work / "in.mlir").write_text(SCOPES)
    argv = [mlir_opt, "in.mlir", *GREEDY]
    assert record(argv, "run.adbrec", ir="changed", stdout=os.devnull).status == 0
    lines = open_recording("run.adbrec").table("ir", ["operation", "text"]).to_pylist()
    own = re.compile(r"(%[\w.]+)(?::\d+)? = \"?([\w.]+)")
    of_file = set(own.findall(SCOPES))
    names: list[str] = []
    for line in some(lines):
        names += re.findall(r"%[\w.]+", line["text"])
        assert set(own.findall(line["text"])) <= of_file, line["text"]
        if found := re.match(r"@(\d+)(?::\d+)? = ", line["text"]):
            assert int(found[1]) == line["operation"]
    assert {"%sum", "%5", "%seven", "%x"} <= set(names)
    assert all(re.search(rf"{name}\b", SCOPES) for name in names)
    with open_session("run.adbrec") as session:
        session.timeline.goto(1)
        assert session.cursor.goto("%5").unit.location == "in.mlir:4:8"
        with pytest.raises(NotRecorded, match="shows no value %left"):
            session.cursor.goto("%left")


def test_a_file_and_a_query_have_the_names_of_the_printer(mlir_opt: str, work: Path) -> None:
    (work / "in.mlir").write_text(FOLDS)
    argv = [mlir_opt, "in.mlir", *FUNCTIONS]
    assert record(argv, "run.adbrec", ir="function", stdout=os.devnull).status == 0
    options = ("goto 4", "print function", "print function > out.mlir")
    command = ["open", "run.adbrec", "--batch"]
    command += [word for one in options for word in ("-ex", one)]
    done = command_line.run(*command, check=True)
    assert "%a: i32" in done.stdout
    written = Path("out.mlir").read_text()
    assert "%arg0: i32" in written and "%a:" not in written
    for row in some(open_recording("run.adbrec").table("ir", ["text"]).to_pylist()):
        assert "\0" not in row["text"] and "%a:" not in row["text"]


def test_large_constants_are_elided_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("large.mlir").write_text(
        "func.func @f(%x: i32) -> (i32, tensor<6xi32>, tensor<2xi32>) {\n"
        "  %z = arith.constant 0 : i32\n"
        "  %c = arith.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>\n"
        "  %d = arith.constant dense<[1, 2]> : tensor<2xi32>\n"
        "  %y = arith.addi %x, %z : i32\n"
        "  return %y, %c, %d : i32, tensor<6xi32>, tensor<2xi32>\n"
        "}\n"
    )
    with both(["mlir-opt", "large.mlir", "--canonicalize"]) as pair:
        table = open_recording("run.adbrec").table("actions", ["ordinal", "changed"]).to_pylist()
        pair.goto(next(row["ordinal"] for row in table if row["changed"]), "before")
        for each in (pair.live, pair.recorded):
            each.cursor.goto("%c")
        for elide in (1, 5, 6, None):
            whole = [each.ir.print("function", elide=elide).text for each in pair]
            lines = [current(each.ir.excerpt(elide=elide)) for each in pair]
            for recorded, live in (whole[::-1], lines[::-1]):
                assert recorded == live
                assert ("__elided__" in live) == (elide in (1, 5)), elide
