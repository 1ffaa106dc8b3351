"""The time of operations of the input, over dumps and profiles of all kinds."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from actiondbg.commands.cli import cost
from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.lineage.cost import NO_LINE, NO_ORIGIN, OTHER_CODE, Cost, attribute
from actiondbg.lineage.lineage import Lineage
from actiondbg.lineage.opened_lineage import open_lineage
from actiondbg.lineage.profiles import Profile, ProfileEntry, ProfileFrame

INPUT = """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<1.0> : tensor<4xf32>
  %0 = linalg.matmul ins(%a, %a : tensor<4xf32>, tensor<4xf32>) outs(%c : tensor<4xf32>)
  %1 = linalg.generic ins(%0 : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.mulf %x, %x : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""
FINAL = """\
module {
  llvm.func @main() {
    %0 = llvm.mlir.constant(1.0 : f32) : f32 loc("in.mlir":2:8)
    %1 = llvm.load %p : f32 loc("in.mlir":3:8)
    %2 = llvm.fmul %1, %1 : f32 loc(fused["in.mlir":3:8, "in.mlir":6:10])
    %3 = llvm.fadd %2, %0 : f32 loc(fused["in.mlir":2:8, "in.mlir":3:8])
    %4 = llvm.fneg %3 : f32 loc("other.mlir":1:1)
    llvm.return loc("in.mlir":9:3)
  } loc("in.mlir":1:1)
  llvm.func @kernel() {
    %0 = llvm.fmul %x, %x : f32 loc("in.mlir":6:10)
    llvm.return loc("in.mlir":7:5)
  } loc("in.mlir":4:8)
} loc("in.mlir":0:0)
"""


@pytest.fixture
def lineage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lineage:
    monkeypatch.chdir(tmp_path)
    Path("in.mlir").write_text(INPUT)
    Path("final.mlir").write_text(FINAL)
    return open_lineage(dumps=["in.mlir", "final.mlir"]).lineage


def _attributed(lineage: Lineage, *entries: tuple[float, ProfileFrame]) -> Cost:
    return attribute(_profile((time, (frame,)) for time, frame in entries), lineage)


def _profile(entries: Iterable[tuple[float, tuple[ProfileFrame, ...]]]) -> Profile:
    return Profile("perf script", "samples", tuple(ProfileEntry(*entry) for entry in entries))


def _own(cost: Cost) -> dict[str, float]:
    return {cost.stage.names[index]: time for index, time in cost.own.items()}


def test_lines_of_the_input_cost_their_operations(lineage: Lineage) -> None:
    found = _attributed(
        lineage,
        (6, ProfileFrame("main", "in.mlir", 3)),
        (3, ProfileFrame("main", "somewhere/in.mlir", 6)),
        (1, ProfileFrame("main", "in.mlir", 99)),
        (1, ProfileFrame("main", "in.mlir")),
        (1, ProfileFrame("memcpy")),
    )
    assert _own(found) == {"linalg.matmul": 6, "arith.mulf": 3}
    assert found.attributed == 9 and found.profile.time == 12
    totals = {found.stage.names[index]: time for index, time in found.total.items()}
    assert totals == {"linalg.matmul": 6, "arith.mulf": 3, "linalg.generic": 3, "func.func": 9}
    assert [one.name for one, _ in found.hottest()] == ["linalg.matmul", "linalg.generic"]
    assert {reason: sum(left.values()) for reason, left in found.left.items()} == {
        NO_LINE: 2,
        OTHER_CODE: 1,
    }


def test_time_of_a_fused_operation_is_split_evenly_over_its_origins(lineage: Lineage) -> None:
    found = _attributed(lineage, (8, ProfileFrame("main", "final.mlir", 5)))
    assert _own(found) == {"linalg.matmul": 4, "arith.mulf": 4}


def test_constants_get_a_share_only_if_nothing_else_does(lineage: Lineage) -> None:
    found = _attributed(
        lineage,
        (8, ProfileFrame("main", "final.mlir", 6)),
        (1, ProfileFrame("main", "final.mlir", 3)),
    )
    assert _own(found) == {"linalg.matmul": 8, "arith.constant": 1}


def test_code_without_an_origin_is_reported(lineage: Lineage) -> None:
    found = _attributed(
        lineage,
        (8, ProfileFrame("main", "final.mlir", 7)),
        (1, ProfileFrame("main", "final.mlir", 4)),
    )
    assert found.left == {NO_ORIGIN: {"final.mlir:7": 8}}


def test_a_function_without_lines_costs_the_operations_that_it_was_made_from(
    lineage: Lineage,
) -> None:
    assert _own(_attributed(lineage, (8, ProfileFrame("kernel")))) == {"linalg.generic": 8}
    assert _own(_attributed(lineage, (8, ProfileFrame("main")))) == {
        "linalg.matmul": 4,
        "linalg.generic": 4,
    }


def test_callers_pay_for_code_outside_the_program(lineage: Lineage) -> None:
    chain = (ProfileFrame("expf"), ProfileFrame("main", "in.mlir", 3), ProfileFrame("_start"))
    assert _own(attribute(_profile([(5, chain)]), lineage)) == {"linalg.matmul": 5}


def test_a_profile_of_another_program_is_refused(lineage: Lineage) -> None:
    with pytest.raises(ActiondbgError, match=r"another program: .*of the files a\.c"):
        _attributed(lineage, (8, ProfileFrame("main", "a.c", 5)))
    with pytest.raises(ActiondbgError, match="of the functions f, none of which is in the lineage"):
        _attributed(lineage, (8, ProfileFrame("f")))


def test_the_command_prints_a_listing(lineage: Lineage, capsys: pytest.CaptureFixture[str]) -> None:
    Path("times.json").write_text('{"in.mlir:3": 0.6, "in.mlir:6": 0.3, "printf": 0.1}')
    words = ["times.json", "--input", "in.mlir", "--then", "final.mlir"]
    assert cost.run([*words, "--html", "cost.html"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("JSON: 1.00 s, of which 90.0 % belong to 2 operations of in.mlir.\n")
    assert "    600 ms  60.0 %  linalg.matmul %0 in.mlir:3:8\n" in text
    assert "    100 ms  10.0 %  other code (printf)\n" in text
    assert "30.0 %               4    %1 = linalg.generic ins(" in text
    assert "30.0 %  30.0 %       6      %m = arith.mulf %x, %x : f32\n" in text
    assert "return" not in text
    page = Path("cost.html").read_text()
    assert "linalg.matmul %0 in.mlir:3:8" in page and "printf" in page
    assert cost.run([*words, "--all"]) == 0
    assert "     9    return %1 : tensor<4xf32>" in capsys.readouterr().out
    assert cost.run([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["unit"], found["time"]) == ("s", 1.0)
    assert found["attributed"] == pytest.approx(0.9)
    assert [one["name"] for one in found["operations"]] == [
        "func.func",
        "linalg.matmul",
        "linalg.generic",
        "arith.mulf",
    ]
    assert found["left"][0]["places"] == {"printf": 0.1}


@pytest.mark.parametrize("words", [[], ["--input", "in.mlir"]])
@pytest.mark.usefixtures("lineage")
def test_a_source_is_needed(words: list[str]) -> None:
    Path("times.json").write_text('{"in.mlir:3": 1}')
    with pytest.raises(UsageError, match=r"--then B\.mlir"):
        cost.run(["times.json", *words])
