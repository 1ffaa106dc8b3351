"""``actiondbg track`` over dumps of real tools."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.conftest import LIBRARY
from tests.fakes import command_line

BUILDS = LIBRARY

CONVOLUTIONS = """builtin.module {
  func.func @two(
      %image: tensor<1x4x4x1xf32>, %kernel: tensor<1x1x1x1xf32>
  ) -> (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>) {
    %room0 = tensor.empty() : tensor<1x4x4x1xf32>
    %room1 = tensor.empty() : tensor<1x4x4x1xf32>

    %first = linalg.conv_2d_nhwc_hwcf
      {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%image, %kernel : tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>)
      outs(%room0 : tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>

    %second = linalg.conv_2d_nhwc_hwcf
      {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%image, %kernel : tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>)
      outs(%room1 : tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
    return %first, %second : tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>
  }
}
"""
LOWERED = """func.func @two() {
  %flat = test.collapse loc("model/two.mlir":8:14)
  %product = linalg.matmul loc("model/two.mlir":8:14)
  %kept = linalg.conv_2d_nhwc_hwcf loc("model/two.mlir":13:15)
  return
}
"""
QUESTION = """
len(op_index.get_ops_by_type("linalg.conv_2d_nhwc_hwcf"))
became, stayed = [], []
for op in op_index.get_ops_by_type("linalg.conv_2d_nhwc_hwcf"):
    (became if any(o.op_name == "linalg.matmul" for o in track(op)) else stayed).append(op)
[o.ssa_name for o in became]
[o.ssa_name for o in stayed]
show(track(became))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.mlir").write_text(CONVOLUTIONS)
    (tmp_path / "low.mlir").write_text(LOWERED)
    return tmp_path


def track(*args: str, statements: str = "") -> subprocess.CompletedProcess[str]:
    return command_line.run("track", *args, stdin=statements)


DUMPS = ("--input", "two.mlir", "--then", "low.mlir")


def test_question_about_all_convolutions_in_the_python_shell(folder: Path) -> None:
    words = ("--input-mlir", "two.mlir", "--track-mlir", "low.mlir")
    run = track(*words, "--src-remap-list", "%i=model/two.mlir", statements=QUESTION)
    assert run.stderr == ""
    # The names are those that MLIR prints: the file has %first and %second.
    assert (
        run.stdout
        == """2
['%2']
['%3']
%flat = test.collapse loc("model/two.mlir":8:14)
----------------------------------------
%product = linalg.matmul loc("model/two.mlir":8:14)
"""
    )


def test_tracked_there_and_back(folder: Path) -> None:
    run = track(*DUMPS, "--from", "%first", "--from", "two.mlir:8")
    became = """two.mlir:8: %first = linalg.conv_2d_nhwc_hwcf
  became 2 operations of low.mlir, by location:
  low.mlir:2: %flat = test.collapse
  low.mlir:3: %product = linalg.matmul
"""
    assert run.stdout == 2 * became
    run = track(*DUMPS, "--back", "--from", "linalg.*")
    assert (
        run.stdout
        == """low.mlir:3: %product = linalg.matmul
  came from 1 operation of two.mlir, by location:
  two.mlir:8: %first = linalg.conv_2d_nhwc_hwcf
low.mlir:4: %kept = linalg.conv_2d_nhwc_hwcf
  came from 1 operation of two.mlir, by location:
  two.mlir:13: %second = linalg.conv_2d_nhwc_hwcf
"""
    )


def test_arguments_stand_for_the_operation_around_them(folder: Path) -> None:
    run = track(*DUMPS, "--from", "%kernel", "--nested")
    assert run.stdout.startswith("two.mlir:2: func.func @two(\n  became 3 operations of low.mlir")


def test_json_has_the_steps(folder: Path) -> None:
    run = track(*DUMPS, "--from", "%second", "--json")
    (answer,) = map(json.loads, run.stdout.splitlines())
    (asked,) = answer["of"]
    assert asked["location"] == '"two.mlir":13:15'
    (reached,) = answer["operations"]
    assert reached["operation"]["name"] == "linalg.conv_2d_nhwc_hwcf"
    assert not reached["exact"]
    assert reached["steps"] == [
        {
            "evidence": "location",
            "source": asked["node"],
            "target": reached["operation"]["node"],
            "ordinal": None,
            "action": None,
        }
    ]
    lost = json.loads(track(*DUMPS, "--from", "%room0", "--json").stdout)
    assert [loss["why"] for loss in lost["losses"]] == ["unmatched"]


def test_related_operations_of_one_dump(folder: Path) -> None:
    run = track("--input", "low.mlir", "--related", "--from", "%flat")
    assert "shares its source with 2 operations of low.mlir" in run.stdout


def test_a_part_of_standard_input(folder: Path) -> None:
    cut = CONVOLUTIONS.partition("return")[0]
    run = track("--input", "-", "--partial", "--related", "--from", "%first", statements=cut)
    assert "shares its source with 1 operation of standard input" in run.stdout
    assert len(run.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        (
            (),
            2,
            "the source is missing: a recording, --input A.mlir --then B.mlir, or a tool after --",
        ),
        (("--input", "two.mlir", "--from", "%first"), 2, "a later stage is missing"),
        ((*DUMPS, "--back", "--related", "--from", "%first"), 2, "exclude each other"),
        ((*DUMPS, "--from", "%none"), 2, "No operation of two.mlir defines %none."),
        ((*DUMPS, "--from", "@none"), 2, "No operation of two.mlir defines the symbol @none."),
        (
            (*DUMPS, "--from", "tosa.conv_2d_nhwc_hwcf"),
            2,
            "Did you mean linalg.conv_2d_nhwc_hwcf?",
        ),
        ((*DUMPS, "--from", "other.mlir:3"), 2, "its locations are in 'two.mlir'."),
        (
            (*DUMPS, "--from", "%first", "--to", "3"),
            2,
            "There is no stage '3' in this lineage: choose one of two.mlir, low.mlir.",
        ),
        ((*DUMPS, "--from", "%first", "--remap", "x=y"), 2, "The remap of 'x' matches no location"),
        (("--input", "low.mlir", "--then", "two.mlir", "--from", "%flat"), 2, "the wrong order"),
        (
            ("--input", "no.mlir", "--then", "low.mlir", "--from", "%a"),
            2,
            "'no.mlir' cannot be read",
        ),
        (
            ("--input", "cut.mlir", "--then", "low.mlir", "--from", "%first"),
            1,
            "cut.mlir does not parse: on line 4, the '{' is not closed; --partial uses what can",
        ),
    ],
)
def test_errors_are_one_sentence(
    folder: Path, args: tuple[str, ...], status: int, message: str
) -> None:
    (folder / "cut.mlir").write_text(CONVOLUTIONS.partition("return")[0])
    run = track(*args)
    assert run.returncode == status
    assert message in run.stderr
    assert "Traceback" not in run.stderr
    assert [one for one in run.stderr.splitlines() if not one.startswith("usage: ")][1:] == []


def test_partial_uses_the_rest_of_a_dump(folder: Path) -> None:
    (folder / "two.mlir").write_text(CONVOLUTIONS.partition("return")[0])
    run = track(*DUMPS, "--partial", "--from", "%first")
    assert run.returncode == 0
    assert "became 2 operations" in run.stdout
    assert run.stderr == (
        "actiondbg: 2 places of two.mlir could not be read, the first on line 4: "
        "the '{' is not closed.\n"
    )


def test_a_value_may_have_the_name_that_mlir_prints(folder: Path) -> None:
    run = track(*DUMPS, "--from", "%3")
    assert run.stderr == "actiondbg: two.mlir has no %3: MLIR prints %second so.\n"
    assert run.stdout == track(*DUMPS, "--from", "%second").stdout
    # A name of the file is that of the file, whatever MLIR prints.
    (folder / "two.mlir").write_text(CONVOLUTIONS.replace("%first", "%30"))
    assert "%second so" in track(*DUMPS, "--from", "%3").stderr
    (folder / "two.mlir").write_text(CONVOLUTIONS.replace("%first", "%3"))
    run = track(*DUMPS, "--from", "%3")
    assert run.stderr == ""
    assert run.stdout.startswith("two.mlir:8: %3 = linalg.conv_2d_nhwc_hwcf\n")
    run = track(*DUMPS, "--from", "%9")
    assert run.stderr == "actiondbg: No operation of two.mlir defines %9.\n"


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        ("1\n\n1/0", "line 3 of standard input: ZeroDivisionError: division by zero"),
        ("track(3)", "line 1 of standard input: Expected operations of an index, got 3."),
        ("track([3])", "line 1 of standard input: Expected operations of an index, got 3."),
        (
            "track('x')",
            "line 1 of standard input: Invalid source range 'x': write FILE:LINE:COLUMN or "
            "FILE:LINE:COLUMN-LINE:COLUMN.",
        ),
        (
            "src(SourceRanges.from_str('no.mlir:1:1'))",
            "line 1 of standard input: The source 'no.mlir' cannot be read: No such file or "
            "directory.",
        ),
    ],
)
def test_the_shell_continues_after_a_statement_that_fails(
    folder: Path, statements: str, message: str
) -> None:
    run = track(*DUMPS, statements=f"{statements}\nprint('reached')\nnone\n")
    assert run.returncode == 1
    last = statements.count("\n") + 3
    assert run.stderr == (
        f"actiondbg: {message}\n"
        f"actiondbg: line {last} of standard input: NameError: name 'none' is not defined\n"
    )
    assert run.stdout.endswith("reached\n")


def test_nothing_runs_of_a_text_that_is_no_python(folder: Path) -> None:
    run = track(*DUMPS, statements="print('not reached')\nshow(")
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == "actiondbg: line 2 is not Python: '(' was never closed.\n"


TRACK_SRC = """
conv = op_index.get_ops_by_name("%2")[0]
str(conv.op.attributes["strides"])
conv.op.operands[0].get_name(), conv.op.results[0].get_name()
print(op_index.get_info_by_op(conv.op.parent).op_name)
op_index.info_by_op[conv.op] == conv == op_index.operations[conv.unique_id]
print(str(conv.op).splitlines()[0][:33])
conv.dump()
dump_infos([conv], indent=2)
dump_infos([conv], 4, content=False)
(conv.src_rng.start.line, conv.src_rng.start.column, conv.src_rng.end.line)
conv.src_rng.contains(SourceLocation.from_str("two.mlir:8:14"))
both = conv.src_rng.merge(op_index.get_ops_by_name("%3")[0].src_rng)
both, both.contains(conv.src_rng), conv.src_rng.contains(both)
[op.op_name for op in op_index.get_ops_by_src_range(both)]
conv.src_rng.try_merge(SourceRange.from_str("other.mlir:1:1")) == conv.src_rng
conv.src_rng.merge(SourceRange.unknown()) == conv.src_rng
"""


def test_words_of_mlir_track_src(folder: Path) -> None:
    run = track(*DUMPS, statements=TRACK_SRC)
    assert run.stderr == ""
    described = """linalg.conv_2d_nhwc_hwcf %2
  unique id: builtin.module[0]/func.func[1]/%2
  source:    two.mlir:8:14
"""
    assert run.stdout.splitlines() == [
        "'dense<1> : vector<2xi64>'",
        "('%arg0', '%2')",
        "func.func",
        "True",
        "%2 = linalg.conv_2d_nhwc_hwcf {di",
        *described.splitlines(),
        *(f"  {line}" for line in described.splitlines()),
        *(f"    {line}" for line in described.splitlines()),
        "(8, 14, 8)",
        "True",
        "(<two.mlir:8:14-13:15>, True, False)",
        "['linalg.conv_2d_nhwc_hwcf', 'linalg.conv_2d_nhwc_hwcf']",
        "True",
        "True",
    ]


def test_three_stages_in_the_python_shell(folder: Path) -> None:
    (folder / "last.mlir").write_text('t.last loc("two.mlir":8:14)\n')
    run = track(
        *DUMPS,
        "--then",
        "last.mlir",
        statements="""
op = op_index.get_ops_by_name("%first")[0]
[o.op_name for o in track(op)]
[o.op_name for o in track(op, op_indices[1])]
[o.op_name for o in track_back(track(op))]
op.src_rng.overlaps(track(op)[0].src_rng), op.src_rng
""",
    )
    assert (
        run.stdout
        == """['t.last']
['test.collapse', 'linalg.matmul']
['linalg.conv_2d_nhwc_hwcf']
(True, <two.mlir:8:14>)
"""
    )


SCALE = """#map = affine_map<(d0) -> (d0)>
func.func @scale(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %factor = arith.constant 2.5 : f32
    %1 = arith.mulf %in, %factor : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
HOISTING = (
    "builtin.module(canonicalize,cse,one-shot-bufferize{bufferize-function-boundaries},"
    "func.func(convert-linalg-to-loops),convert-arith-to-llvm)"
)


def test_a_hoisted_constant_is_found_by_its_text(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scale.mlir").write_text(SCALE)
    flags = [f"--pass-pipeline={HOISTING}", "--mlir-print-debuginfo", "-o", "low.mlir"]
    logging = ["--mlir-print-ir-before-all", "--mlir-print-ir-after-all"]
    with Path("scale.log").open("wb") as log:
        subprocess.run([mlir_opt, "scale.mlir", *flags, *logging], check=True, stderr=log)
    became = "llvm.mlir.constant(2.500000e+00 : f32) : f32\n"
    run = track("--input", "scale.mlir", "--then", "low.mlir", "--from", "%factor")
    assert run.stdout.endswith(became), run.stderr
    assert "  became 1 operation of low.mlir, by text:\n" in run.stdout
    command_line.run("import", "scale.log", "-o", "scale.adbrec", check=True)
    run = track("scale.adbrec", "--from", "scale.mlir:7")
    assert run.stdout.endswith(became), run.stderr
    assert "#5, by text:\n" in run.stdout
    run = track("scale.adbrec", "--back", "--from", "llvm.mlir.constant", "--json")
    answers = map(json.loads, run.stdout.splitlines())
    (answer,) = (one for one in answers if "2.5" in one["of"][0]["text"])
    (origin,) = answer["operations"]
    assert origin["operation"]["location"] == '"scale.mlir":7:15'
    assert {step["evidence"] for step in origin["steps"]} == {"text"}


def test_a_pass_on_functions_is_over_after_the_last(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    function = (
        "func.func @f{0}(%x: i32) -> i32 {{\n  %c = arith.constant {0} : i32\n"
        "  %0 = arith.addi %x, %c : i32\n  %1 = arith.addi %0, %c : i32\n  return %1 : i32\n}}\n"
    )
    Path("in.mlir").write_text("".join(function.format(number) for number in (1, 2, 3)))
    pipeline = "--pass-pipeline=builtin.module(func.func(canonicalize,cse),sccp)"
    tool = ["--", mlir_opt, "in.mlir", pipeline]
    command_line.run("record", "--lineage", "-q", "-o", "run.adbrec", *tool, check=True)
    for source in (tool, ["run.adbrec"]):
        for line in (4, 10, 16):
            found = track("--from", f"in.mlir:{line}", "--to", "canonicalize", *source)
            assert "replaced by #" in found.stdout and "pattern:AddIAddConstant" in found.stdout
        first = track("--from", "in.mlir:16", "--to", "canonicalize#1", *source)
        assert "the same operation" in first.stdout


def test_the_answer_names_the_action_that_is_asked_for(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.mlir").write_text(
        "func.func @f(%x: i32) -> i32 {\n  %c = arith.constant 2 : i32\n"
        "  %0 = arith.addi %x, %c : i32\n  %1 = arith.addi %0, %c : i32\n  return %1 : i32\n}\n"
    )
    tool = ["--", mlir_opt, "in.mlir", "--canonicalize"]
    command_line.run("record", "--lineage", "-q", "-o", "run.adbrec", *tool, check=True)
    for source in (tool, ["run.adbrec"]):
        found = track("--from", "in.mlir:4", "--to", "#2", *source)
        assert (
            "operations of the IR after #2:\n" in found.stdout
        )  # the iteration, with others in it


LOST_ZERO = """\
func.func @lost(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %same = arith.subf %x, %zero : f32
  return %same : f32
}
"""
CONTRACTION = """\
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#result = affine_map<(i, j, k) -> (i, j)>
func.func @{}(%a: vector<2x4xf32>, %b: vector<4x2xf32>, %c: vector<2x2xf32>) -> vector<2x2xf32> {{
  %r = vector.contract {{
    indexing_maps = [#left, #right, #result],
    iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>
  }} %a, %b, %c : vector<2x4xf32>, vector<4x2xf32> into vector<2x2xf32>
  return %r : vector<2x2xf32>
}}
"""


def test_zeros_of_a_lowering_are_not_copies_of_one_that_was_erased(
    mlir_opt: str, tmp_path: Path
) -> None:
    """The constants of the lowering have no location, and the only zero of the input is gone."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.mlir"
    maps, _, function = CONTRACTION.partition("func.func")
    copies = [f"func.func{function}".format(name) for name in ("one", "two")]
    source.write_text("".join([maps, LOST_ZERO, *copies]))
    passes = ("--convert-vector-to-llvm", "--canonicalize", "--mlir-print-debuginfo")
    subprocess.run([mlir_opt, source, *passes, "-o", output], check=True)
    assert output.read_text().count("llvm.mlir.constant(0.000000e+00 : f32)") == 2
    done = track("--input", str(source), "--then", str(output), "--from", "%zero")
    assert done.returncode == 0
    assert "became nothing" in done.stdout
