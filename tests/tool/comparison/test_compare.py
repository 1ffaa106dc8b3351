"""Two runs compared: of two pipelines, of two inputs, of runs that skip actions, of suites."""

from __future__ import annotations

import functools
import json
import random
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from actiondbg.bisection.api import bisect
from actiondbg.comparison.changing_actions import changing_actions
from actiondbg.comparison.decisive import find_decisive
from actiondbg.comparison.run_comparison import RunComparison, compare_runs
from actiondbg.comparison.side import Side, recorded_side
from actiondbg.recording.capture.recorder import IRDetail, record
from tests.conftest import LIBRARY
from tests.elements import some
from tests.fakes import command_line
from tests.paths import COMMAND
from tests.tool.suite.conftest import CONFIGURATION, LIT

BUILDS = LIBRARY

SOURCE = """\
func.func @shift(%x: i32) -> i32 {
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %twice = arith.addi %x, %one : i32
  %sum = arith.addi %twice, %three : i32
  return %sum : i32
}
func.func @twin(%x: i32) -> i32 {
  %a = arith.muli %x, %x : i32
  %b = arith.muli %x, %x : i32
  %c = arith.subi %a, %b : i32
  return %c : i32
}
func.func @idle(%x: i32) -> i32 {
  return %x : i32
}
"""


FOLDED = """\
func.func @folded(%x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %same = arith.addi %x, %zero : i32
  return %same : i32
}
"""


@pytest.fixture(autouse=True)
def _input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.mlir").write_text(SOURCE)


def compare(*words: str) -> subprocess.CompletedProcess[str]:
    return command_line.run("compare", *words)


def as_object(*words: str, status: int) -> dict[str, Any]:
    done = compare("--json", *words)
    assert (done.returncode, done.stderr) == (status, "")
    return json.loads(done.stdout)


def recorded(argv: Sequence[str], name: str, ir: IRDetail = "function", *skip: str) -> Side:
    done = record(argv, name, ir=ir, one_thread=True, stdout="/dev/null", skip=skip)
    assert done.path is not None
    return recorded_side(done.path)


def test_the_same_command(mlir_opt: str) -> None:
    command = shlex.join([mlir_opt, "in.mlir", "--canonicalize"])
    done = compare(command, command)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[2:] == [
        "The output is identical, by the same actions: 3 functions."
    ]


def test_an_output_file_is_left_alone(mlir_opt: str) -> None:
    Path("out.mlir").write_text("kept")
    command = shlex.join([mlir_opt, "in.mlir", "--cse", "-o", "out.mlir"])
    done = compare(command, command)
    assert done.stdout.startswith(f"A  {command} (LLVM ")
    assert Path("out.mlir").read_text() == "kept"


def test_standard_input_is_read_by_both(mlir_opt: str) -> None:
    done = command_line.run(
        "compare", f"{mlir_opt} --cse", f"{mlir_opt} --canonicalize", stdin=SOURCE
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "Of 3 functions: 2 with other IR at the end" in done.stdout


def test_another_order_of_passes(mlir_opt: str) -> None:
    """The same output by another way."""
    done = compare(
        shlex.join([mlir_opt, "in.mlir", "--canonicalize", "--cse"]),
        shlex.join([mlir_opt, "in.mlir", "--cse", "--canonicalize"]),
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "Of 3 functions: 1 with other IR at the end" in done.stdout
    # Without cse before it, canonicalize does not see that both products are the same.
    twin = done.stdout.partition("@twin: other IR at the end, by other actions\n")[2]
    assert "-    %0 = arith.muli" in twin
    assert "    A  nothing\n    B  #24 fold arith.subi at in.mlir:11:8\n" in twin
    assert "@shift" not in done.stdout


def nested(*modules: tuple[str, str], around: str = "f") -> str:
    """Return a module of modules, each of which has a function that does an operation twice."""
    return "\n".join(
        f"""module @{name} {{
  func.func @{around}(%x: i32, %y: i32) -> (i32, i32) {{
    %a = arith.{operation} %x, %y : i32
    %b = arith.{operation} %x, %y : i32
    return %a, %b : i32, i32
  }}
}}"""
        for name, operation in modules
    )


def test_functions_of_one_name_in_several_modules(mlir_opt: str) -> None:
    modules = [("one", "addi"), ("two", "muli")]
    Path("a.mlir").write_text(nested(*modules))
    a = shlex.join([mlir_opt, "a.mlir", "--cse"])
    texts = {
        "reordered": nested(*reversed(modules)),
        "exchanged": nested(("two", "addi"), ("one", "muli")),
        "other": nested(("one", "addi"), ("two", "subi")),
    }
    found: dict[str, dict[str, Any]] = {}
    for name, text in texts.items():
        Path(f"{name}.mlir").write_text(text)
        b = shlex.join([mlir_opt, f"{name}.mlir", "--cse"])
        found[name] = as_object(a, b, status=int(name != "reordered"))
    outputs = {
        name: {each["function"]: each["output"] for each in some(result["functions"])}
        for name, result in found.items()
    }
    assert outputs["reordered"]["f"] == "same"
    assert outputs["exchanged"]["f"] == outputs["other"]["f"] == "other"


def test_a_function_that_is_in_another_module(mlir_opt: str) -> None:
    one, two = ("one", "addi"), ("two", "muli")
    for name, first, second in (("a", one, two), ("b", ("two", "addi"), ("one", "muli"))):
        text = nested(first, around="f") + nested(second, around="g")
        Path(f"{name}.mlir").write_text(text)
    commands = [shlex.join([mlir_opt, f"{name}.mlir", "--cse"]) for name in "ab"]
    done = compare(*commands)
    assert done.returncode == 1
    assert "Of 4 functions: 2 with other IR at the end" in done.stdout
    assert "-module @one {" in done.stdout and "+module @two {" in done.stdout


def test_the_first_difference_is_the_skipped_action(mlir_opt: str) -> None:
    argv = [mlir_opt, "in.mlir", "--canonicalize"]
    a = recorded(argv, "a.adbrec")
    (pattern,) = (
        action
        for actions in changing_actions(a.recording).values()
        for action in actions
        if action.tag == "apply-pattern"
    )
    b = recorded(argv, "b.adbrec", "function", f"#{pattern.ordinal}")
    found = as_object("a.adbrec", "b.adbrec", status=1)
    assert (found["output"], found["same_actions"]) == ("other", False)
    shift = found["functions"][0]
    assert (shift["function"], shift["output"]) == ("shift", "other")
    assert shift["first"]["a"][0]["ordinal"] == pattern.ordinal
    assert shift["first"]["a"][0]["name"] == "AddIAddConstant"
    assert [each["name"] for each in shift["first"]["b"]] == []
    assert {each["output"] for each in found["functions"][1:]} == {"same"}
    # And the other way around.
    (first,) = (each.first for each in compare_runs(b, a).functions if each.first is not None)
    assert first.b[0].ordinal == pattern.ordinal


@pytest.mark.parametrize("ir", ["function", "output"])
@pytest.mark.parametrize("seed", range(4))
def test_planted_differences(mlir_opt: str, ir: IRDetail, seed: int) -> None:
    """Each skip shows as an action of one run where both part, unless it is made up for."""
    chance = random.Random(seed)
    Path("many.mlir").write_text("".join(function(chance, number) for number in range(6)))
    argv = [mlir_opt, "many.mlir", "--canonicalize", "--cse"]
    a = recorded(argv, "a.adbrec", ir)
    actions = [
        action
        for stream in changing_actions(a.recording).values()
        for action in stream
        if action.tag in ("apply-pattern", "fold")
    ]
    for action in some(chance.sample(actions, 4)):
        b = recorded(argv, "b.adbrec", ir, f"#{action.ordinal}")
        check_planted(compare_runs(a, b), action.ordinal, action.function.symbol)


def check_planted(compared: RunComparison, ordinal: int, symbol: str) -> None:
    for each in compared.functions:
        if each.function.symbol != symbol:
            assert each.is_equal
        elif each.ir == "other":
            assert ordinal in each.own[0]
            assert each.first is not None
            assert ordinal in {action.ordinal for action in each.first.a}
        else:
            # It was done later, or another action did the same.
            assert each.ir == "same"


def function(chance: random.Random, number: int) -> str:
    """A function in which canonicalize and cse have something to do."""
    lines = [f"func.func @f{number}(%v0: i32, %v1: i32) -> i32 {{"]
    values = ["%v0", "%v1"]
    for at in range(2, 14):
        if chance.random() < 0.4:
            lines.append(f"  %v{at} = arith.constant {chance.choice([0, 1, 3, 8])} : i32")
        else:
            op = chance.choice(["addi", "muli", "subi", "andi", "xori"])
            a, b = chance.choice(values), chance.choice(values)
            lines.append(f"  %v{at} = arith.{op} {a}, {b} : i32")
        values.append(f"%v{at}")
    mixed = ", ".join(values[-4:])
    types = ", ".join(["i32"] * 4)
    lines.append(f"  func.call @use{number}({mixed}) : ({types}) -> ()")
    return "\n".join([*lines, f"  return {values[-1]} : i32", "}"]) + (
        f"\nfunc.func private @use{number}({types})\n"
    )


def test_another_input(mlir_opt: str) -> None:
    """The function moved down by three lines, and one constant is another."""
    Path("moved.mlir").write_text("\n\n\n" + SOURCE.replace("constant 3", "constant 4"))
    found = as_object(
        shlex.join([mlir_opt, "in.mlir", "--canonicalize"]),
        shlex.join([mlir_opt, "moved.mlir", "--canonicalize"]),
        status=1,
    )
    outputs = {each["function"]: (each["output"], each["actions"]) for each in found["functions"]}
    assert outputs == {
        "shift": ("other", "same"),
        "twin": ("same", "same"),
        "idle": ("same", "same"),
    }


def test_a_run_that_fails(mlir_opt: str) -> None:
    good, bad = ("func.func @f() -> i32 {", "func.func @f() {")
    for name, head in (("good", good), ("bad", bad)):
        text = f"{head}\n  %0 = arith.constant 1 : i32\n  return %0 : i32\n}}\n"
        Path(f"{name}.mlir").write_text(SOURCE + "// -----\n" + text)
    done = compare(
        *(
            shlex.join([mlir_opt, f"{name}.mlir", "--split-input-file", "--canonicalize"])
            for name in ("good", "bad")
        )
    )
    assert done.returncode == 1
    assert "actions, ends with status 1 outside of passes\n" in done.stdout
    assert "@f, part 2 of the input: only in A at the end\n" in done.stdout


def test_a_run_that_crashes() -> None:
    Path("store.mlir").write_text(
        "func.func @store(%m: memref<4xi1>, %v: i1, %i: index) {\n"
        "  memref.store %v, %m[%i] : memref<4xi1>\n"
        "  return\n"
        "}\n"
    )
    crashing = "mlir-opt store.mlir --cse --finalize-memref-to-llvm"
    done = compare(crashing, "mlir-opt store.mlir --cse")
    assert done.returncode == 1
    assert "Assertion `integralElementType.getWidth() >= 8' failed" in done.stderr
    assert "Stack dump" not in done.stderr and " #0 " not in done.stderr
    assert "\nA is killed by SIGABRT in finalize-memref-to-llvm, and B ends well. " in done.stdout
    assert "There is no IR at the end of A." in done.stdout and "record with" not in done.stdout
    both = compare(crashing, crashing).stdout
    assert "record with" not in both and "and B ends" not in both


def test_a_tool_that_runs_no_pass(mlir_opt: str) -> None:
    command = shlex.join([mlir_opt, "in.mlir", "--no-such-option"])
    done = compare(command, command)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Nothing was recorded: " in done.stderr
    assert "Unknown command line argument" in done.stderr


def test_other_inputs_without_a_pass(mlir_opt: str) -> None:
    Path("other.mlir").write_text(FOLDED)
    commands = [shlex.join([mlir_opt, name]) for name in ("in.mlir", "other.mlir")]
    done = compare(*commands)
    assert (done.returncode, done.stdout.splitlines()[2:]) == (
        1,
        ["No action ran, and the output differs."],
    )
    done = compare(commands[0], commands[0])
    assert (done.returncode, done.stdout.splitlines()[2:]) == (
        0,
        ["No action ran, and the output is identical."],
    )


def test_only_one_run_has_a_pass(mlir_opt: str) -> None:
    done = compare(f"{mlir_opt} in.mlir -canonicalize", f"{mlir_opt} in.mlir")
    assert done.returncode == 1
    assert "The IR at the end of B is not known, as no action ran.\n" in done.stdout


def test_recordings_without_ir(mlir_opt: str) -> None:
    argv = [mlir_opt, "in.mlir", "--canonicalize"]
    recorded(argv, "a.adbrec", "none")
    recorded(argv, "b.adbrec", "none")
    done = compare("a.adbrec", "b.adbrec")
    assert (done.returncode, done.stderr) == (0, "")
    assert "by the same actions. The IR at the end is not recorded" in done.stdout


TEST = "! grep -q 'constant 4' {}"


def test_an_oracle_names_the_difference_that_matters(mlir_opt: str) -> None:
    done = compare(
        "--test",
        "! grep -q 'constant 4' {}",
        shlex.join([mlir_opt, "in.mlir", "--cse"]),
        shlex.join([mlir_opt, "in.mlir", "--canonicalize"]),
    )
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == (
        "The oracle rejects B only, because of #11 apply-pattern (AddIAddConstant) on arith.addi "
        "at in.mlir:5:10, which A does not do."
    )


def test_an_oracle_that_accepts_both(mlir_opt: str) -> None:
    command = shlex.join([mlir_opt, "in.mlir", "--canonicalize"])
    done = compare("--test", "true {}", command, command)
    assert done.stdout.endswith("The oracle accepts both runs: no difference matters to it.\n")


def test_an_oracle_that_rejects_both_names_both_culprits(mlir_opt: str) -> None:
    commands = [
        shlex.join([mlir_opt, "in.mlir", *passes])
        for passes in (["--canonicalize"], ["--cse", "--canonicalize"])
    ]
    done = compare("--test", TEST, *commands)
    last = done.stdout.splitlines()[-1]
    assert last.startswith("The oracle rejects both runs: no difference decides. A is bad because")
    for name, command in zip("AB", commands, strict=True):
        result = bisect(shlex.split(command), TEST)
        assert result.culprit is not None
        assert f"{name} is bad because of {result.culprit.entry.describe()}." in last


def test_the_answer_of_an_oracle_as_json(mlir_opt: str) -> None:
    found = as_object(
        "--test",
        "! grep -q 'constant 4' {}",
        shlex.join([mlir_opt, "in.mlir", "--cse"]),
        shlex.join([mlir_opt, "in.mlir", "--canonicalize"]),
        status=1,
    )["decisive"]
    assert (found["bad"], found["share"]) == ("B", "all")
    assert (found["result"]["ordinal"], found["result"]["name"]) == (11, "AddIAddConstant")


def test_a_pass_as_a_whole_has_the_actions_in_it(
    mlir_opt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runs share no action of canonicalize, or all but one."""
    by_pass = functools.partial(bisect, tag="pass-execution")
    monkeypatch.setattr("actiondbg.comparison.decisive.bisect", by_pass)
    Path("in.mlir").write_text(SOURCE + FOLDED)
    other = recorded([mlir_opt, "in.mlir", "--cse"], "a.adbrec")
    bad = recorded([mlir_opt, "in.mlir", "--canonicalize"], "b.adbrec")
    near = recorded(bad.argv, "c.adbrec", "function", "AddIAddConstant")
    # A run with skips is not run again: its command is, without them.
    near = replace(near, given=other.argv)
    for side, share in ((other, "all"), (near, "some")):
        found = find_decisive(compare_runs(side, bad), "! grep -q 'constant 4' {}")
        assert (found.bad, found.share) == ("B", share)
        assert found.result is not None
        assert found.result.culprit is not None
        assert found.result.culprit.entry.tag == "pass-execution"


def test_identical_output_is_an_answer_without_recorded_ir(mlir_opt: str) -> None:
    side = recorded([mlir_opt, "in.mlir", "--canonicalize"], "a.adbrec", "none")
    outputs = {
        written: compare_runs(replace(side, written=written), replace(side, written=b"x")).output
        for written in (None, b"", b"y", b"x")
    }
    assert outputs == {None: "unknown", b"": "unknown", b"y": "unknown", b"x": "same"}
    empty = replace(side, written=b"")
    assert compare_runs(empty, empty).output == "unknown"


def test_imported_logs(mlir_opt: str) -> None:
    for name, passes in (("a", ["--canonicalize", "--cse"]), ("b", ["--cse", "--canonicalize"])):
        with Path(f"{name}.log").open("w") as log:
            argv = [mlir_opt, "in.mlir", *passes, "--mlir-print-ir-after-all"]
            subprocess.run(argv, check=True, stderr=log, stdout=subprocess.DEVNULL)
        command_line.run("import", "-q", f"{name}.log", check=True)
    found = as_object("a.adbrec", "b.adbrec", status=1)
    outputs = {each["function"]: each["output"] for each in found["functions"]}
    assert outputs == {"shift": "same", "twin": "other", "idle": "same"}
    same = as_object("a.adbrec", "a.adbrec", status=0)
    assert (same["output"], same["same_actions"]) == ("same", True)


def test_a_log_of_whole_modules_has_functions_of_one_name(mlir_opt: str) -> None:
    function = "func.func @f(%a: i32) -> i32 { %c = arith.constant 0 : i32 return %a : i32 }"
    Path("in.mlir").write_text(f"module @x {{ {function} }} module @y {{ {function} }}")
    for name, inner in (("a", "canonicalize"), ("b", "cse")):
        passes = f"builtin.module(builtin.module(func.func({inner})))"
        flags = ("--mlir-print-ir-after-all", "--mlir-print-ir-module-scope")
        argv = [mlir_opt, "in.mlir", f"--pass-pipeline={passes}", *flags]
        done = subprocess.run(
            [*argv, "--mlir-disable-threading"], check=True, capture_output=True, text=True
        )
        Path(f"{name}.log").write_text(done.stderr)
        command_line.run("import", "-q", f"{name}.log", check=True)
    found = as_object("a.adbrec", "b.adbrec", status=0)
    assert found["output"] == "same"


def test_locations_of_logs_are_no_difference(mlir_opt: str) -> None:
    for name in ("one", "two"):
        Path(f"{name}.mlir").write_text(SOURCE)
        flags = (
            "--mlir-print-ir-before-all",
            "--mlir-print-ir-after-all",
            "--mlir-print-debuginfo",
        )
        done = subprocess.run(
            [mlir_opt, f"{name}.mlir", "--canonicalize", *flags], capture_output=True, text=True
        )
        Path(f"{name}.log").write_text(done.stderr)
        command_line.run("import", f"{name}.log", "-o", f"{name}.adbrec", check=True)
    done = compare("one.adbrec", "two.adbrec")
    assert (done.returncode, done.stderr) == (0, "")
    assert "The IR at the end is the same, by the same actions: 3 functions." in done.stdout


@pytest.mark.parametrize("kind", ["resource", "elided"])
def test_data_that_is_not_in_the_ir(mlir_opt: str, kind: str) -> None:
    def program(last: int) -> str:
        if kind == "elided":
            value = f"dense<[{'1, ' * 4999}{last}]>"
            resources = ""
        else:
            value = "dense_resource<blob>"
            data = f"0x04000000{last:02X}000000"
            resources = f'{{-# dialect_resources: {{builtin: {{blob: "{data}"}}}} #-}}\n'
        size = 5000 if kind == "elided" else 1
        return (
            f"func.func @f() -> tensor<{size}xi32> {{\n"
            f"  %0 = arith.constant {value} : tensor<{size}xi32>\n"
            f"  return %0 : tensor<{size}xi32>\n}}\n{resources}"
        )

    for number in (2, 3):
        Path(f"{number}.mlir").write_text(program(number))
    one, other = (shlex.join([mlir_opt, f"{number}.mlir", "--cse"]) for number in (2, 3))
    assert "The output is identical" in compare(one, one).stdout
    done = compare(one, other)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[2:] == [
        "1 function by the same actions. The data of large constants and of resources was not "
        "compared."
    ]


def test_the_directory_of_a_recording_is_gone(mlir_opt: str) -> None:
    Path("gone").mkdir()
    shutil.copy("in.mlir", "gone")
    for name, option in (("a", "--cse"), ("b", "--canonicalize")):
        record(
            [mlir_opt, "in.mlir", option],
            f"{name}.adbrec",
            ir="output",
            cwd="gone",
            stdout="/dev/null",
        )
    shutil.rmtree("gone")
    done = compare("--test", "true {}", "a.adbrec", "b.adbrec")
    assert done.returncode == 3
    assert done.stdout.count("they part in canonicalize") == 1
    last = done.stderr.splitlines()[-1]
    assert re.fullmatch(r"actiondbg: The working directory '.*/gone' of '.*' is not a .*", last)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a"], "two runs are compared: actiondbg compare [options] A B"),
        (["nothing.adbrec", "nothing.adbrec"], "nothing.adbrec"),
        ([".", "in.adbrec"], "'.' is a suite, and is compared with another suite only."),
        (["'", "x"], "cannot be read: No closing quotation."),
        (["--tool", "mlir-opt"], "the command is missing"),
    ],
)
def test_bad_usage(words: list[str], message: str) -> None:
    done = compare(*words)
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def write_tests(folder: Path, mlir_opt: str, options: dict[str, str]) -> list[str]:
    """Write a lit suite of one test each; return the command line of lit."""
    folder.mkdir()
    (folder / "lit.cfg.py").write_text(CONFIGURATION.format(external=False, path="/usr/bin:/bin"))
    for name, passes in options.items():
        (folder / name).write_text(f"// RUN: {mlir_opt} %s {passes}\n{SOURCE}")
    return [str(LIT), "-q", str(folder)]


def test_a_function_of_one_suite_only(mlir_opt: str) -> None:
    if not LIT.exists():
        pytest.skip("lit is not installed")
    lit = write_tests(Path("tests"), mlir_opt, {"a.mlir": "--cse"})
    for name, source in (("a", FOLDED), ("b", "")):
        with Path("tests/a.mlir").open("a") as file:
            file.write(source)
        suite = [COMMAND, "suite", "record", "-q", "-o", name, "--ir", "output", "--", *lit]
        assert subprocess.run(suite, check=False).returncode == 0
        Path("tests/a.mlir").write_text(f"// RUN: {mlir_opt} %s --cse\n{SOURCE}")
    done = compare("a", "b")
    assert done.returncode == 1
    assert "1 run: no recorded action differs; a function is only in A\n" in done.stdout


def test_output_that_suites_do_not_record_is_not_called_the_same(mlir_opt: str) -> None:
    for name, source in (("a", SOURCE), ("b", SOURCE.replace("subi %a, %b", "subi %a, %a"))):
        Path("in.mlir").write_text(source)
        tool = [mlir_opt, "in.mlir", "--canonicalize", "-o", "out.mlir"]
        suite = command_line.run("suite", "record", "-q", "-o", name, "--", *tool)
        assert suite.returncode == 0
    text = compare("a", "b").stdout
    assert "\nOther differences, where the output is not recorded, the most frequent" in text
    assert "the same output" not in text


def test_two_suites(mlir_opt: str) -> None:
    if not LIT.exists():
        pytest.skip("lit is not installed")
    tests = {f"same{number}.mlir": "--cse" for number in range(3)}
    changed = {f"changed{number}.mlir": "--canonicalize" for number in range(4)}
    # Both processes of one RUN line.
    piped = f"--cse | {mlir_opt} --canonicalize"
    tests["piped.mlir"] = piped
    first = {**tests, **changed, "gone.mlir": "--cse", "way.mlir": "--cse --canonicalize"}
    second = {
        **tests,
        **dict.fromkeys(changed, "--cse"),
        "new.mlir": "--cse",
        "way.mlir": "--cse --canonicalize --canonicalize --cse",
    }
    for name, options in (("a", first), ("b", second)):
        lit = write_tests(Path(f"tests-{name}"), mlir_opt, options)
        done = command_line.run("suite", "record", "-q", "-o", name, "--ir", "output", "--", *lit)
        assert (done.returncode, done.stderr) == (0, "")
    found = as_object("-j", "2", "a", "b", status=1)
    kinds = {pair["name"]: pair["kind"] for pair in found["pairs"]}
    assert kinds == {
        **{f"{name}:1": "same" for name in tests},
        **{f"{name}:1": "other output" for name in changed},
        "piped.mlir:1 (2)": "same",
        "way.mlir:1": "same",  # the further passes change nothing
    }
    assert (found["only_a"], found["only_b"]) == (["gone.mlir:1"], ["new.mlir:1"])
    largest = found["groups"][0]
    assert (largest["other_output"], len(largest["runs"])) == (True, 4)
    done = compare("a", "b")
    assert done.returncode == 1
    assert done.stdout.startswith("10 runs of both suites:\n       6  the same output by the same")
    assert "  4 runs" in done.stdout
    command = done.stdout.partition("    actiondbg compare ")[2].splitlines()[0]
    assert compare(*command.split()).returncode == 1
