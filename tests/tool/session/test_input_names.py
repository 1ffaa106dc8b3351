"""The names of the input: one name means one value, in every view and while it lives."""

from __future__ import annotations

import lzma
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg import errors
from tests.conftest import LIBRARY
from tests.elements import some
from tests.fakes import stock_tool as stock
from tests.fakes.typed_shell import Screen
from tests.paths import INPUTS

BUILDS = LIBRARY

Launch = Callable[..., actiondbg.Session]


PASSES = (
    *("canonicalize", "cse", "func.func(linalg-generalize-named-ops)", "sccp"),
    *("func.func(linalg-fuse-elementwise-ops)", "eliminate-empty-tensors", "inline"),
)
_DEFINITION = re.compile(r"^ *(%[\w$.-]+)(?::\d+)? = (?:\"([\w.]+)\"|([\w.]+))", re.M)


def definitions(text: str) -> dict[str, int]:
    """Return the lines of the names that are defined once in a text."""
    found = [
        (match[1], text.count("\n", 0, match.start()) + 1) for match in _DEFINITION.finditer(text)
    ]
    counts = Counter(name for name, _ in found)
    return {name: line for name, line in found if counts[name] == 1}


def check_name(session: actiondbg.Session, name: str, line: int, created: int) -> bool:
    """Check what a name of the input means at a stop; return whether its operation lives.

    Args:
        session: at the stop.
        name: with its %.
        line: of the definition in the input.
        created: the number of operations of the input.
    """
    session.cursor.move("action")
    try:
        unit = session.cursor.goto(name).unit
    except errors.NoSuchUnit as error:
        said = re.fullmatch(
            rf"{re.escape(name)} is @(\d+) of the input, which is erased: .*", str(error)
        )
        assert said is not None and int(said[1]) <= created
        with pytest.raises(errors.NoSuchUnit):
            session.cursor.move("id", index=int(said[1]))
        return False
    assert unit.kind == "operation" and unit.id is not None and unit.id <= created
    assert unit.location is not None and unit.location.split(":")[-2] == str(line)
    begins = re.compile(rf"\s*{re.escape(name)}(?::\d+)? = ")
    assert begins.match(unit.text or "")
    shown = session.ir.excerpt(before=0, after=0)
    assert begins.match(shown.lines[shown.current].text)
    assert begins.match(session.ir.print("cursor").text)
    printed = session.ir.print("function", mark=True)
    marked = printed.text.splitlines()[(printed.mark[0] if printed.mark else 1) - 1]
    assert begins.match(marked)
    assert session.cursor.operation_id(name) == unit.id, "for track, related and history"
    watch = session.breakpoints.watch(name)
    assert watch.watch is not None and watch.watch.id == unit.id
    session.breakpoints.delete([watch.id])
    return True


@pytest.mark.parametrize("seed", range(3))
def test_names_of_a_network_are_kept_while_operations_live(
    mlir_opt: str, tmp_path: Path, seed: int
) -> None:
    source, rng = tmp_path / "gpt6.mlir", random.Random(seed)
    source.write_bytes(lzma.decompress((INPUTS / "gpt6_fwd.linalg.mlir.xz").read_bytes()))
    named = definitions(source.read_text())
    pipeline = f"--pass-pipeline=builtin.module({','.join(rng.sample(PASSES, 3))})"
    with actiondbg.launch([mlir_opt, str(source), pipeline, "-o", os.devnull]) as session:
        actions = session.run().actions
        assert actions is not None
        created = session.timeline.goto(1).created
        assert created is not None
        lived: list[bool] = []
        for _ in range(4):
            session.timeline.goto(rng.randrange(1, actions), rng.choice(("before", "after")))
            for name in some(rng.sample(sorted(named), 12)):
                lived.append(check_name(session, name, named[name], created.operations))
        assert True in lived


SCOPES = """\
func.func @first(%x: i32, %y: i32) -> i32 {
  %c = arith.constant 0 : i32
  %sum = arith.addi %x, %c : i32
  %5 = arith.muli %sum, %y : i32
  return %5 : i32
}
func.func @second(%x: i32, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> i32 {
    %sum = arith.addi %acc, %x : i32
    scf.yield %sum : i32
  }
  %q:2 = "test.two"(%r) : (i32) -> (i32, i32)
  %t = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %q#1) -> i32 {
    %sum = arith.muli %acc, %x : i32
    scf.yield %sum : i32
  }
  return %t : i32
}
"""


@pytest.fixture
def scopes(launch: Launch) -> actiondbg.Session:
    source = stock.write("scopes.mlir", SCOPES)
    session = launch("--canonicalize", "--allow-unregistered-dialect", source=source)
    session.start()
    return session


def test_a_name_means_the_value_that_is_visible_at_the_cursor(scopes: actiondbg.Session) -> None:
    scopes.cursor.goto("@first")
    assert scopes.cursor.goto("%sum").unit.location == "scopes.mlir:3:10"
    scopes.cursor.goto("scopes.mlir:12")
    assert scopes.cursor.goto("%sum").unit.location == "scopes.mlir:11:12"
    scopes.cursor.goto("scopes.mlir:17")
    assert scopes.cursor.goto("%sum").unit.location == "scopes.mlir:16:12"
    assert scopes.cursor.goto("%acc").unit.kind == "block"
    scopes.cursor.goto("scopes.mlir:17")
    assert scopes.cursor.goto("%q#1").unit.name == "test.two"


def test_a_name_of_several_values_is_not_guessed(scopes: actiondbg.Session) -> None:
    before = scopes.cursor.goto("@second").unit
    with pytest.raises(errors.NoSuchUnit, match=r"The name is that of 2 values: of @\d+, @\d+;"):
        scopes.cursor.goto("%sum")
    with pytest.raises(errors.NoSuchUnit, match="There is no value %0 at this stop"):
        scopes.cursor.goto("%0")  # as the printer names %sum
    assert scopes.cursor.get().unit == before


def test_all_views_have_the_names_of_the_input(
    scopes: actiondbg.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert scopes.ir.print("module").text.splitlines()[1] == (
        "  func.func @first(%x: i32, %y: i32) -> i32 {"
    )
    screen = Screen(scopes, monkeypatch)
    scopes.breakpoints.add("pass:canonicalize", after=True)
    scopes.continue_()
    assert "%5 = arith.muli %x, %y : i32" in screen.type("diff")
    assert re.search(r"%c is @\d+ of the input, which is erased: ", screen.type("print %c"))
    assert re.search(r"@\d+ line \d+ after .*: %5 = arith.muli %x, %y", screen.type("related %5"))
    assert re.search(r"@\d+ .*: %5 = arith.muli %x, %y", screen.type("track %5"))


INLINED = """\
func.func private @inner(%x: i32) -> i32 {
  %5 = arith.muli %x, %x : i32
  %only = arith.subi %5, %x : i32
  return %only : i32
}
func.func @outer(%x: i32) -> i32 {
  %5 = func.call @inner(%x) : (i32) -> i32
  %r = arith.xori %5, %x : i32
  return %r : i32
}
"""


@pytest.mark.parametrize("learned", [True, False])
def test_names_follow_operations_into_other_functions(launch: Launch, learned: bool) -> None:
    session = launch("--inline", source=stock.write("inlined.mlir", INLINED))
    session.start()
    if learned:
        session.ir.print("module")
    else:
        session.breakpoints.add("pass:inline", after=True)
        session.continue_()
    session.timeline.goto(1, "after")
    ids = {name: session.cursor.goto(name).unit for name in ("%only", "%r")}
    assert [ids[name].location for name in ids] == ["inlined.mlir:3:11", "inlined.mlir:8:8"]
    text = session.ir.print("module").text
    names = re.findall(r"^ +(%\w+) = ", text, re.M)
    assert len(set(names)) == len(names) == 3 and {"%only", "%r"} < set(names)
    [renamed] = re.findall(r"(%\w+) = arith.muli %x, %x", text)
    assert session.cursor.goto(renamed).unit.name == "arith.muli"


def test_a_location_of_another_file_gives_no_other_name(launch: Launch) -> None:
    text = SCOPES.replace("i32\n  return %5", 'i32 loc("model.py":7:1)\n  return %5')
    session = launch(
        "--canonicalize", "--allow-unregistered-dialect", source=stock.write("locs.mlir", text)
    )
    session.start()
    assert session.cursor.goto("%5").unit.location == "model.py:7:1"
    session.cursor.goto("model.py:7:1")
    assert session.ir.print("cursor").text.startswith("%5 = ")
    assert session.cursor.goto("%q").unit.name == "test.two"


@pytest.mark.parametrize("source", ["scopes", "inlined", "network"])
def test_texts_that_give_their_own_locations_keep_their_names(
    mlir_opt: str, tmp_path: Path, source: str
) -> None:
    """As a tool prints them with --mlir-print-debuginfo; here with other names, and twice."""
    packed = lzma.decompress((INPUTS / "gpt6_fwd.linalg.mlir.xz").read_bytes()).decode()
    text = {"scopes": SCOPES, "inlined": INLINED, "network": packed}[source]
    (tmp_path / "any.mlir").write_text(text)
    options = [mlir_opt, str(tmp_path / "any.mlir"), "--allow-unregistered-dialect"]
    located = stock.run([*options, "--mlir-print-debuginfo"]).stdout
    first, second = (re.sub(r"%(\w)", rf"%{letter}_\1", located) for letter in "ab")
    file = tmp_path / "located.mlir"
    file.write_text(f"{first}// -----\n{second}")
    options[1:2] = [str(file), "--split-input-file", "--canonicalize", "-o", os.devnull]
    with actiondbg.launch(options) as session:
        session.breakpoints.add("pass:canonicalize")
        for letter, given in (("a", first), ("b", second)):
            session.run() if letter == "a" else session.continue_()
            shown = session.ir.print("module").text
            wanted = re.findall(r"^ +(%\w+)(?::\d+)? = ", given, re.M)
            assert len(wanted) > 3 and re.findall(r"^ +(%\w+)(?::\d+)? = ", shown, re.M) == wanted


PROGRAM = """\
import sys
from mlir import ir, passmanager
with ir.Context(), open(sys.argv[2]) as file:
    module = ir.Module.parse(file.read())
    passmanager.PassManager.parse("builtin.module(cse)").run(module.operation)
"""


def test_files_of_the_command_that_are_no_text_are_not_read(tmp_path: Path) -> None:
    """A program may be given weights, which would fill the memory; the text is still found."""
    pytest.importorskip("mlir.passmanager")
    (tmp_path / "program.py").write_text(PROGRAM)
    with (tmp_path / "weights.bin").open("wb") as file:
        file.write(b"text")
        file.truncate(1 << 40)
    (tmp_path / "in.mlir").write_text(SCOPES.split("func.func @second")[0])
    words = [str(tmp_path / name) for name in ("program.py", "weights.bin", "in.mlir")]
    with actiondbg.launch([sys.executable, *words]) as session:
        assert session.start().name == "cse"
        assert session.cursor.goto("%sum").unit.name == "arith.addi"
        assert session.continue_().status == 0


OWN_PLACES = """\
func.func @f(%x: i32) -> i32 {
  %right = arith.addi %x, %x : i32 loc("own.mlir":3:12)
  %wrong = arith.addi %right, %x : i32 loc("own.mlir":2:12)
  return %wrong : i32
}
"""


def test_locations_within_the_file_itself_exchange_no_names(launch: Launch) -> None:
    session = launch("--cse", source=stock.write("own.mlir", OWN_PLACES))
    session.start()
    lines = session.ir.print("module").text.splitlines()
    names = [line.split()[0] for line in lines[2:4]]
    assert names in (["%right", "%wrong"], ["%0", "%1"])


LAYOUT = (
    "func.func @f(%a: i32,\r\n  %b : i32) -> i32 { %c\t=\n arith.addi %a, %b : i32 %d, %e :2 = "
    '"test.three"(%c) : (i32) -> (i32, i32, i32)\n  %m.x-1 = arith.muli %e#1, %d : i32\n'
    "  cf.br ^next(%m.x-1 : i32)\n^next(%n: i32):\n  return %n : i32 }\n"
)


@pytest.mark.parametrize("source", ["file", "redirected"])
def test_names_of_any_layout_of_the_text(mlir_opt: str, tmp_path: Path, source: str) -> None:
    file = tmp_path / "layout.mlir"
    file.write_text(LAYOUT, newline="")
    word = str(file) if source == "file" else "-"
    options = ["--canonicalize", "--allow-unregistered-dialect", "-o", os.devnull]
    with actiondbg.launch([mlir_opt, word, *options], stdin=file) as session:
        session.start()
        named = re.findall(r"%[\w.-]*\w", session.ir.print("module").text)
        assert set(named) == {"%a", "%b", "%c", "%d", "%m.x-1", "%n"}  # %e is a part of %d
        assert session.cursor.goto("%e").unit == session.cursor.goto("%d").unit


def test_values_of_a_new_function_get_no_name_of_the_input(launch: Launch) -> None:
    source = stock.write("shift.mlir", SCOPES.split("func.func @second")[0])
    session = launch("--canonicalize", "--convert-func-to-llvm", source=source)
    session.breakpoints.add("pass:convert-func-to-llvm", after=True)
    session.run()
    session.cursor.goto("@first")
    text = session.ir.print("function").text
    defined = re.findall(r"^ +(%[\w]+) = llvm", text, re.M)
    assert re.search(r"%5 = arith.muli %\w+, %\w+ : i32", text), "it lives"
    assert not {"%5", "%sum", "%c", "%x", "%y"} & set(defined)
