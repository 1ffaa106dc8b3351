"""Edits of the IR at a stop: on a branch, repeated by time travel, saved and loaded."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg import errors
from actiondbg.process.stop import Stop
from scripts.benchmarks.inputs import many_functions
from tests.fakes import command_line
from tests.fakes import stock_tool as stock
from tests.paths import ROOT

Launch = Callable[..., actiondbg.Session]

NESTED = "--pass-pipeline=builtin.module(func.func(cse,canonicalize),inline,canonicalize)"
CRASH = ("--canonicalize", "--finalize-memref-to-llvm")


def at_canonicalize(launch: Launch) -> actiondbg.Session:
    """Stop before the canonicalizer of @sum."""
    session = launch(NESTED)
    session.start()
    stop = session.timeline.goto(3)
    assert (stop.name, stop.function) == ("canonicalize", "sum")
    return session


def edit(session: actiondbg.Session, old: str, new: str) -> int:
    """Replace words in the function of the cursor; return the number of the branch."""
    text = session.edits.text().text
    assert old in text
    edition = session.edits.apply(text.replace(old, new))
    assert edition is not None
    return edition.branch


def inserted(stop: Stop) -> list[int | None]:
    """Return the ids of the operations that an action inserted."""
    return [one.id for one in stop.changes if (one.kind, one.what) == ("inserted", "operation")]


def module(session: actiondbg.Session, locations: bool = False) -> str:
    with session.ir.print("module", locations=locations, printer_names=True) as printed:
        return printed.text


def test_edit_is_what_the_run_goes_on_with(launch: Launch) -> None:
    session = at_canonicalize(launch)
    assert edit(session, "constant 3", "constant 33") == 2
    session.continue_()
    assert "arith.constant 37 : i32" in session.target.output()
    assert "arith.constant 7 : i32" not in session.target.output()
    assert session.exit_status == 0


def test_diff_shows_only_what_was_edited(launch: Launch) -> None:
    session = at_canonicalize(launch)
    text = session.edits.text().text
    edition = session.edits.apply(text.replace("constant 3", "constant 33"))
    assert edition is not None
    changed = [line for line in edition.diff.unified() if line[:1] in "+-"]
    assert [line.split()[-3] for line in changed] == ["3", "33"]
    assert edition.edited.patch[0].startswith("@@ -")


def test_ids_and_locations_of_other_operations_stay(launch: Launch) -> None:
    session = at_canonicalize(launch)
    before = {line.split("loc(")[0].strip() for line in module(session, True).splitlines()}
    locations = re.findall(r'"[^"]*mlir":\d+:\d+', module(session, True))
    session.cursor.goto("folds.mlir:6")
    id = session.cursor.get().unit.id
    text = session.edits.text().text
    lines = text.splitlines()
    first_add = next(at for at, line in enumerate(lines) if "arith.addi" in line)
    name, _, rest = lines[first_add].partition(" = ")
    operand = rest.split()[1].rstrip(",")
    lines[first_add : first_add + 1] = [f"{name} = arith.muli {operand}, {operand} : i32"]
    assert session.edits.apply("\n".join(lines)) is not None
    with session.cursor.at(f"@{id}") as cursor:
        assert cursor.unit.name == "arith.addi"
    after = re.findall(r'"[^"]*mlir":\d+:\d+', module(session, True))
    assert len(set(locations) - set(after)) <= 1
    assert before


def test_going_back_and_forth_repeats_the_edit(launch: Launch) -> None:
    session = at_canonicalize(launch)
    edit(session, "constant 3", "constant 33")
    edited = module(session)
    session.timeline.goto(2)
    assert "constant 33" not in module(session)
    session.timeline.goto(3)
    assert module(session) == edited
    session.continue_()
    output = session.target.output()
    session.timeline.goto(3)
    assert module(session) == edited
    session.continue_()
    assert session.target.output() == output


def test_ids_after_an_edit_are_the_same_in_replays(launch: Launch) -> None:
    pipeline = "builtin.module(func.func(cse),inline,convert-arith-to-llvm,convert-func-to-llvm)"
    session = launch(f"--pass-pipeline={pipeline}")
    session.start()
    session.timeline.goto(2)
    edit(session, "arith.addi", "arith.muli")
    seen = [session.next_change()]
    while seen[-1].when != "exit":
        seen.append(session.next_change())
    made = {one.ordinal: inserted(one) for one in seen[:-1]}
    assert sum(map(bool, made.values())) > 5
    for ordinal, ids in made.items():
        assert inserted(session.timeline.goto(ordinal, "after")) == ids


def test_undo_leads_to_the_timeline_without_the_edit(launch: Launch) -> None:
    session = at_canonicalize(launch)
    before = module(session)
    edit(session, "constant 3", "constant 33")
    session.next()
    stop = session.timeline.undo_edit()
    assert (stop.ordinal, stop.when) == (3, "before")
    assert module(session) == before
    session.continue_()
    assert "constant 7 : i32" in session.target.output()
    with pytest.raises(errors.UsageError, match="No edit was made"):
        session.timeline.undo_edit()


def test_two_edits_at_one_stop(launch: Launch) -> None:
    session = at_canonicalize(launch)
    assert edit(session, "constant 3", "constant 33") == 2
    assert edit(session, "constant 4", "constant 44") == 3
    both = module(session)
    session.timeline.goto(1)
    session.timeline.goto(3)
    assert module(session) == both
    session.timeline.undo_edit()
    assert "constant 33" in module(session)
    assert "constant 44" not in module(session)


def test_checkpoints_know_their_side_of_an_edit(launch: Launch) -> None:
    session = at_canonicalize(launch)
    plain = module(session)
    before = session.timeline.checkpoints.add()
    edit(session, "constant 3", "constant 33")
    edited = module(session)
    after = session.timeline.checkpoints.add()
    session.timeline.checkpoints.restore(before.number)
    assert module(session) == plain
    session.timeline.checkpoints.restore(after.number)
    assert module(session) == edited


def test_new_run_is_without_the_edit(launch: Launch) -> None:
    session = at_canonicalize(launch)
    edit(session, "constant 3", "constant 33")
    session.run()
    assert "constant 7 : i32" in session.target.output()


def test_skip_after_an_edit(launch: Launch) -> None:
    session = at_canonicalize(launch)
    edit(session, "constant 3", "constant 33")
    session.skip(step=True)
    assert "constant 33" in module(session)
    session.timeline.goto(2)
    session.timeline.goto(3, "after")
    assert "constant 33" in module(session)


def test_edit_after_a_pass(launch: Launch) -> None:
    session = at_canonicalize(launch)
    session.next()
    assert session.stop is not None
    assert session.stop.when == "after"
    edit(session, "constant 7", "constant 77")
    session.continue_()
    assert "constant 77" in session.target.output()


def test_module_and_cursor(launch: Launch) -> None:
    session = launch(NESTED)
    session.start()
    whole = session.edits.text("module")
    assert whole.target == "module"
    edition = session.edits.apply_text(whole, whole.text.replace("@twice", "@double"))
    assert edition is not None
    session.timeline.goto(3)
    session.cursor.goto("folds.mlir:3")
    line = session.edits.text("cursor")
    assert line.part.strip() == "%c3_i32 = arith.constant 3 : i32"
    changed = line.with_part(line.part.replace("constant 3", "constant 33"))
    assert session.edits.apply_text(line, changed) is not None
    session.continue_()
    assert "@double" in session.target.output()
    assert "constant 37" in session.target.output()


def test_blocks_and_functions_come_and_go(launch: Launch) -> None:
    source = "func.func @f(%c: i1, %a: i32) -> i32 {\n  return %a : i32\n}\n"
    session = launch("--cse", source=stock.write("branches.mlir", source))
    session.start()
    branches = """\
module {
  func.func @f(%arg0: i1, %arg1: i32) -> i32 {
    cf.cond_br %arg0, ^bb1, ^bb2(%arg1 : i32)
  ^bb1:
    %0 = func.call @g(%arg1) : (i32) -> i32
    cf.br ^bb2(%0 : i32)
  ^bb2(%1: i32):
    return %1 : i32
  }
  func.func private @g(i32) -> i32
}
"""
    assert session.edits.apply(branches, "module") is not None
    shown = module(session)
    assert len(re.findall(r"^  \^bb", shown, re.MULTILINE)) == 2
    whole = "module {\n  func.func @f(%a: i1) {\n    return\n  }\n}\n"
    assert session.edits.apply(whole, "module") is not None
    assert "func.func @f(%arg0: i1) {" in module(session)
    session.timeline.undo_edit()
    assert module(session) == shown


# --- passes -----------------------------------------------------------------------------


def test_apply_pass(launch: Launch) -> None:
    session = at_canonicalize(launch)
    edition = session.edits.apply_pass("canonicalize,cse")
    assert edition is not None
    assert "constant 7" in edition.diff.after
    applied = module(session)
    session.timeline.goto(2)
    session.timeline.goto(3)
    assert module(session) == applied
    assert session.status().ordinal == 3  # passes of an edit dispatch no actions
    assert session.edits.apply_pass("canonicalize,cse") is None
    assert session.timeline.branches().current == 2


def test_apply_pass_on_the_module(launch: Launch) -> None:
    session = launch(NESTED)
    session.start()
    edition = session.edits.apply_pass("builtin.module(func.func(canonicalize),symbol-dce)")
    assert edition is not None
    assert "constant 7" in edition.diff.after


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("no-such-pass", "'no-such-pass' does not refer to a registered pass"),
        ("canonicalize{top-down=maybe}", "be applied: failed to add `canonicalize` with options"),
        ("builtin.module(cse)", "for builtin.module, and the pass at this stop runs on func.func"),
        ("finalize-memref-to-llvm", "restricted to 'builtin.module'"),
    ],
)
def test_pipelines_that_cannot_run(launch: Launch, pipeline: str, message: str) -> None:
    session = at_canonicalize(launch)
    before = module(session)
    with pytest.raises(errors.EditRefused, match=message) as refused:
        session.edits.apply_pass(pipeline)
    assert "\n" not in str(refused.value)
    assert module(session) == before


# --- a crash turned into an output ------------------------------------------------------


def test_crash_becomes_an_output(launch: Launch) -> None:
    session = launch(*CRASH, source=str(ROOT / "examples" / "crash.mlir"))
    stop = session.run()
    if stop.when == "exit":
        pytest.skip("this build has no assertions")
    assert stop.is_crash
    [lowering] = [one for one in session.past.passes() if one.name == "finalize-memref-to-llvm"]
    session.timeline.goto(lowering.ordinal)
    text = session.edits.text("module").text
    store = re.compile(r"memref\.store (%\w+), (.*) : memref<4xi1>")
    wider = store.sub(
        r"%wide = arith.extui \1 : i1 to i8\n    memref.store %wide, \2 : memref<4xi8>", text
    ).replace("memref<4xi1>", "memref<4xi8>")
    assert session.edits.apply(wider, "module") is not None
    session.continue_()
    assert session.exit_status == 0
    assert "llvm.store" in session.target.output()


# --- places where nothing can be edited -------------------------------------------------


def test_inside_a_pass(launch: Launch) -> None:
    session = at_canonicalize(launch)
    session.step()
    with pytest.raises(errors.EditRefused, match=r"#3 canonicalize holds .* \('goto #3'\)"):
        session.edits.text()


def test_module_while_a_pass_manager_iterates(launch: Launch) -> None:
    session = at_canonicalize(launch)
    with pytest.raises(errors.EditRefused, match=r"pass manager #1 is iterating.*'goto #1'"):
        session.edits.text("module")


def test_pass_that_another_pass_runs(launch: Launch) -> None:
    session = launch(NESTED, source=stock.write("mixed.mlir", stock.MIXED))
    session.breakpoints.add("pass:canonicalize", "depth == 1")
    session.run()
    while session.stack[1].name != "inline":  # at the end there is no stack
        session.continue_()
    inline = session.stack[1].ordinal
    with pytest.raises(errors.EditRefused, match=rf"#{inline} inline holds .*'goto #{inline}'"):
        session.edits.text()


def test_at_the_end(launch: Launch) -> None:
    session = launch(NESTED)
    session.run()
    with pytest.raises(errors.NotStopped):
        session.edits.text()
    with pytest.raises(errors.NotStopped):
        session.edits.apply_pass("cse")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("constant 3", "constant three", "Line [0-9]+, column [0-9]+: expected attribute value"),
        ("arith.addi", "arith.nothing", "custom op 'arith.nothing' is unknown"),
        ("arith.addi", "arith.addf", "must be floating-point"),
        ("return", "// return", "expected|terminator"),
        ("func.func @sum", "func.func private @twice", "Redefinition of symbol named 'twice'"),
    ],
)
def test_text_that_does_not_parse_or_verify(
    launch: Launch, old: str, new: str, message: str
) -> None:
    session = at_canonicalize(launch)
    before = module(session)
    with pytest.raises(errors.EditRefused, match=message):
        edit(session, old, new)
    assert module(session) == before
    assert session.timeline.branches().current == 1
    session.continue_()
    assert session.exit_status == 0


def test_unchanged_and_empty_texts_are_no_edits(launch: Launch) -> None:
    session = at_canonicalize(launch)
    assert session.edits.apply(session.edits.text().text) is None
    assert session.edits.apply("\n") is None
    assert session.timeline.branches().current == 1


# --- files ------------------------------------------------------------------------------


def saved(launch: Launch) -> tuple[str, str]:
    """Save an edit and a pass; return the file and the output."""
    session = at_canonicalize(launch)
    edit(session, "constant 3", "constant 33")
    session.edits.apply_pass("canonicalize")
    assert session.edits.save("my.edits") == 2
    session.continue_()
    return "my.edits", session.target.output()


def test_saved_edits_are_applied_in_each_run(launch: Launch) -> None:
    file, output = saved(launch)
    text = Path(file).read_text()
    assert text.startswith("# actiondbg edits 2\n")
    assert re.search(r"^-.* arith.constant 3 : i32$", text, re.MULTILINE)
    session = launch(NESTED)
    assert session.edits.load(file) == 2
    for _ in range(2):
        session.run()
        assert session.target.output() == output


def test_saved_edits_are_loaded_at_a_stop(launch: Launch) -> None:
    file, output = saved(launch)
    session = launch(NESTED)
    session.start()
    session.edits.load(file)
    session.continue_()
    assert session.target.output() == output
    session.timeline.goto(2)
    session.next()
    session.next()
    assert "constant 37" in module(session)
    session.timeline.goto(4)
    with pytest.raises(errors.UsageError, match="has passed: start the tool again"):
        session.edits.load(file)


TWICE = "--pass-pipeline=builtin.module(func.func(cse,canonicalize,cse))"
SUMS = """\
func.func @one(%a: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %0 = arith.addi %a, %c1 : i32
  return %0 : i32
}
func.func @two(%a: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %0 = arith.addi %a, %c1 : i32
  %1 = arith.addi %c1, %c2 : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}
"""


def twice(launch: Launch, source: str = SUMS) -> actiondbg.Session:
    return launch(TWICE, source=stock.write("sums.mlir", source))


def go_to_second_cse(session: actiondbg.Session) -> int:
    """Stop before the second cse of @two; return its ordinal."""
    session.breakpoints.add("pass:cse and func:two")
    session.run()
    return session.continue_().ordinal


def at_second_cse(launch: Launch) -> tuple[actiondbg.Session, int]:
    session = twice(launch)
    return session, go_to_second_cse(session)


# Other folds, another line above each function, and another function before them.
OTHER_FOLDS = SUMS.replace("%a, %c1", "%c1, %c1", 1)
MORE_LINES = "\n" + SUMS
MORE_FUNCTIONS = SUMS[: SUMS.index("func.func @two")].replace("@one", "@zero") + SUMS


@pytest.mark.parametrize("source", [SUMS, OTHER_FOLDS, MORE_LINES, MORE_FUNCTIONS])
def test_saved_edits_are_found_by_pass_function_and_number(launch: Launch, source: str) -> None:
    session, saved = at_second_cse(launch)
    edit(session, "return %0", "%3 = arith.subi %0, %0 : i32\n  return %3")
    session.edits.save("my.edits")
    other = twice(launch, source)
    other.edits.load("my.edits")
    assert other.run().status == 0
    [edited] = other.edits.report_located()
    assert (edited.saved, edited.name, edited.function) == (saved, "cse", "two")
    assert other.edits.all() == [edited] and not other.edits.report_located()
    assert other.target.output().count("arith.subi") == 1
    # The action is the second cse of @two in that run, too.
    with twice(launch, source) as plain:
        assert edited.ordinal == go_to_second_cse(plain)
    assert (edited.ordinal == saved) == (source in (SUMS, MORE_LINES))


def test_saved_edit_after_an_action_is_found(launch: Launch) -> None:
    session, _ = at_second_cse(launch)
    session.next()
    edit(session, "return %0", "%3 = arith.subi %0, %0 : i32\n  return %3")
    session.edits.apply_pass("canonicalize")
    session.edits.save("my.edits")
    other = twice(launch, MORE_FUNCTIONS)
    other.start()
    assert other.edits.load("my.edits") == 2
    assert [one.when for one in other.edits.report_located()] == ["after", "after"]
    other.continue_()
    assert "constant 0" in other.target.output().partition("@two")[2]


def test_saved_edit_of_the_first_format(launch: Launch) -> None:
    session, _ = at_second_cse(launch)
    edit(session, "return %0", "%3 = arith.subi %0, %0 : i32\n  return %3")
    session.edits.save("my.edits")
    text = Path("my.edits").read_text()
    first = re.sub(r',"nth":\d+', "", text.replace("edits 2", "edits 1"))
    assert first != text
    Path("my.edits").write_text(first)
    same = twice(launch)
    same.edits.load("my.edits")
    assert same.run().status == 0 and "subi" in same.target.output()
    other = twice(launch, OTHER_FOLDS)
    other.edits.load("my.edits")
    with pytest.raises(errors.EditRefused, match="does not match: the run ends earlier"):
        other.run()


def test_loaded_edit_names_its_action(launch: Launch) -> None:
    session, saved = at_second_cse(launch)
    edit(session, "return %0", "%3 = arith.subi %0, %0 : i32\n  return %3")
    session.edits.save("my.edits")
    more = stock.write("more.mlir", OTHER_FOLDS)
    tool = ["--", "mlir-opt", more, TWICE, "-o", "out.mlir"]
    batch = ["--batch", "-nx"]
    run = command_line.run(*batch, "--edits", "my.edits", "-ex", "run", *tool)
    match = re.search(r"applies before #(\d+) cse in @two \(saved as #(\d+)\)\.", run.stderr)
    assert match and int(match[2]) == saved != int(match[1]), run.stderr
    lines = ["-ex", "start", "-ex", "load edits my.edits", "-ex", "info edits"]
    load = command_line.run(*batch, *lines, *tool)
    assert match[0] in load.stdout
    assert f"before #{match[1]} pass-execution (cse) in @two" in load.stdout.splitlines()[-1]


def test_saved_edit_that_does_not_fit(launch: Launch) -> None:
    file, _ = saved(launch)
    other = launch("--canonicalize")
    other.edits.load(file)
    with pytest.raises(errors.EditRefused, match=r"before #3 .* does not match.* not occur"):
        other.run()
    assert other.state == "stopped"
    other.continue_()
    assert other.exit_status == 0
    source = Path(at_canonicalize(launch).target.argv[1]).read_text()
    changed = launch(NESTED, source=stock.write("other.mlir", source.replace(" 3 ", " 5 ")))
    changed.edits.load(file)
    with pytest.raises(errors.EditRefused, match="cannot be applied: the IR there is another"):
        changed.run()


def test_files_that_are_no_edits(launch: Launch) -> None:
    session = launch(NESTED)
    Path("other").write_text("func.func @f()\n")
    Path("broken").write_text('# actiondbg edits 1\n#\nedit {"ordinal": true}\n')
    with pytest.raises(errors.UsageError, match="is not a file of edits"):
        session.edits.load("other")
    with pytest.raises(errors.UsageError, match="broken:3 is not a saved edit"):
        session.edits.load("broken")
    with pytest.raises(errors.UsageError, match="cannot be read"):
        session.edits.load("missing")
    session.start()
    with pytest.raises(errors.UsageError, match="no edits on this timeline"):
        session.edits.save("none.edits")


def test_a_skip_after_an_edit_is_found_with_the_edit(launch: Launch, tmp_path: Path) -> None:
    many_functions(tmp_path / "in.mlir", 2)
    passes = "canonicalize,convert-scf-to-cf,canonicalize"
    flags = [f"--pass-pipeline=builtin.module({passes})", "--mlir-disable-threading"]
    session = launch(*flags, source=str(tmp_path / "in.mlir"))
    session.start()
    session.edits.apply_pass("canonicalize")  # later actions have other ordinals
    skipped = session.advance("pattern:ForLowering and func:f1")
    end = session.skip()
    while end.when != "exit":
        end = session.continue_()
    assert "failed to legalize operation 'scf.for'" in session.target.errors()
    session.skips.save("my.skips")
    session.edits.save("my.edits")
    with actiondbg.launch(session.target.argv, skips="my.skips", edits="my.edits") as later:
        assert later.run().status == end.status
        [skip] = later.timeline.branches().branches[-1].skips
        assert skip.ordinal == skipped.ordinal
