"""The truth of scripts/bench-lineage: which operations carry which planted constants."""

from __future__ import annotations

from actiondbg.lineage.stage import scanned_stage
from scripts.benchmarks.lineage.pipelines import planted
from scripts.benchmarks.lineage.plants import Plant, Plants, carriers
from tests.elements import some

TEXT = """\
func.func @f(%a: f32) -> f32 {
  %k = arith.constant 2.000010e+05 : f32
  %v = vector.broadcast %k : f32 to vector<4xf32>
  %w = arith.mulf %v, %v : vector<4xf32>
  %x = arith.addf %w, %w : vector<4xf32>
  scf.if %c {
    %y = tosa.clamp %a {max_val = 2.000020e+05 : f32} : f32
    scf.yield
  }
  return %a : f32
}
func.func @g(%k: f32) -> i32 {
  %0 = arith.negf %k : f32
  %1 = arith.constant 200003 : i32 loc("a.mlir":200004:1)
  return %1 : i32
}
"""


def test_an_operation_carries_what_it_has_uses_or_defines() -> None:
    stage = scanned_stage(TEXT, "text").stage
    found = carriers(stage)

    def named(carried: dict[int, frozenset[Plant]]) -> dict[str, set[Plant]]:
        return {stage.names[index]: set(plants) for index, plants in carried.items()}

    assert named(found.own) == {
        "arith.constant": {3},  # the later one of two
        "vector.broadcast": {1},
        "arith.mulf": {1},
        "tosa.clamp": {2},
        "func.return": {3},
        "func.func": {"g"},
    }
    assert named(found.all) == {**named(found.own), "scf.if": {2}, "func.func": {3, "g"}}
    assert found.all[0] == {1, 2, "f"}


def test_plants_are_printed_in_six_digits() -> None:
    plants = Plants()
    text = plants.grown("%{n} = {p} + {p}", 2)
    assert text == "%0 = 2.000010e+05 + 2.000020e+05\n%1 = 2.000030e+05 + 2.000040e+05"
    assert all(f"{float(word):e}" == word for word in some(text.split()) if word.startswith("2"))


def test_a_model_gets_plants_of_its_own() -> None:
    text = (
        "    %1 = linalg.fill ins(%c : f32) outs(%0 : tensor<4xf32>)\n    linalg.yield %2 : f32\n"
    )
    assert planted(text) == (
        "    %plant1 = arith.constant 2.000010e+05 : f32\n"
        "    %1 = linalg.fill ins(%plant1 : f32) outs(%0 : tensor<4xf32>)\n"
        "    %plant2 = arith.constant 2.000020e+05 : f32\n"
        "    %times2 = arith.mulf %2, %plant2 : f32\n"
        "    linalg.yield %times2 : f32\n"
    )
