"""Destinations of elementwise operations in the source of a schedule."""

from __future__ import annotations

from actiondbg.kernels.providers.mlir.provider import with_own_destinations

MAPS = "{indexing_maps = [#map, #map, #map], iterator_types = []}"
BODY = """\
  %1 = linalg.fill ins(%cst : f32) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.generic MAPS ins(%1, %a : tensor<4xf32>, tensor<4xf32>) outs(%1 : tensor<4xf32>) {
  ^bb0(%in: f32, %in_0: f32, %old: f32):
  %9 = arith.addf %in, USED : f32
  linalg.yield %9 : f32
  } -> tensor<4xf32>
""".replace("MAPS", MAPS)


def test_an_operand_is_not_overwritten() -> None:
    text = with_own_destinations(BODY.replace("USED", "%in_0"))
    assert "  %own_1 = tensor.empty() : tensor<4xf32>\n  %2 = linalg.generic" in text
    assert "outs(%own_1 : tensor<4xf32>) {" in text
    assert text.count("outs(%1") == 0


def test_a_destination_that_is_read_stays() -> None:
    text = BODY.replace("USED", "%old")
    assert with_own_destinations(text) == text


def test_another_destination_stays() -> None:
    text = BODY.replace("USED", "%in_0").replace("outs(%1", "outs(%b")
    assert with_own_destinations(text) == text
