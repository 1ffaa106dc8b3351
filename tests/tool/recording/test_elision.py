"""Recorded IR is elided as mlir-opt elides it: compared over random constants."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from random import Random

import pytest

from actiondbg.ir.elision import without_elements
from tests.conftest import LIBRARY

BUILDS = LIBRARY

_TEXTS = ("a", "b>", "c]", "d,", "dense<[1, 2]>", r"q\22>", "0xAB", ": ", "[x", "(")
_FORMS = (
    '"test.a"() {a = %s, b = "dense<[1, 2]> : tensor<2xi32>", c = ["x>", %s]} : () -> ()',
    '"test.b"() <{a = %s}> {z = {k = %s}} : () -> tensor<4xf32>',
)
_RESOURCE = '{-# dialect_resources: {builtin: {blob: "0x040000000000803F0000004000004040"}} #-}\n'


def _leaf(random: Random) -> tuple[str, Callable[[], str]]:
    """Return a type of elements, and a function that makes one."""
    leaves: dict[str, Callable[[], str]] = {
        "i32": lambda: str(random.randint(-5, 5)),
        "index": lambda: str(random.randint(0, 9)),
        "i1": lambda: random.choice(("true", "false")),
        "f32": lambda: f"{random.uniform(-3, 3):.3f}",
        "complex<i32>": lambda: f"({random.randint(0, 3)}, 1)",
        "!unknown.text": lambda: f'"{random.choice(_TEXTS)}"',
    }
    return random.choice(list(leaves.items()))


def _nested(shape: Sequence[int], leaf: Callable[[], str]) -> str:
    if not shape:
        return leaf()
    return f"[{', '.join(_nested(shape[1:], leaf) for _ in range(shape[0]))}]"


def _constant(random: Random) -> str:
    """Return a dense or sparse constant with its type."""
    shape = [random.choice((1, 2, 3, 7, 11)) for _ in range(random.choice((1, 2, 3)))]
    type, leaf = _leaf(random)
    tensor = f"tensor<{'x'.join(map(str, shape))}x{type}>"
    kind = random.choice(("splat", "dense", "dense", "sparse"))
    if kind == "splat":
        return f"dense<{leaf()}> : {tensor}"
    if kind == "dense":
        return f"dense<{_nested(shape, leaf)}> : {tensor}"
    places = [[random.randrange(size) for size in shape] for _ in range(random.choice((1, 4, 30)))]
    return f"sparse<{places}, {_nested([len(places)], leaf)}> : {tensor}"


def _program(random: Random) -> str:
    lines: list[str] = []
    for number in range(4):
        lines.append(random.choice(_FORMS) % (_constant(random), _constant(random)))
        size = random.choice((3, 150))
        values = _nested([size], lambda: str(random.randint(0, 99)))
        lines.append(f"memref.global constant @g{number} : memref<{size}xi16> = dense<{values}>")
    lines.append('"test.c"() {r = dense_resource<blob> : tensor<3xf32>} : () -> ()')
    return "module {\n" + "\n".join(lines) + "\n}\n" + _RESOURCE


@pytest.mark.parametrize(
    "option",
    [
        "--mlir-print-elementsattrs-with-hex-if-larger=100",
        "--mlir-print-elementsattrs-with-hex-if-larger=-1",
        "--mlir-print-elementsattrs-with-hex-if-larger=4",
        "--mlir-print-op-generic",
    ],
)
def test_recorded_ir_is_elided_as_the_printer_does(mlir_opt: str, option: str) -> None:
    for seed in range(3):
        program = _program(Random(seed))

        def printed(*options: str, program: str = program) -> str:
            argv = [mlir_opt, "--allow-unregistered-dialect", option, *options]
            return subprocess.run(
                argv, input=program, capture_output=True, text=True, check=True
            ).stdout

        whole = printed()
        for most in (0, 4, 149):
            short = printed(f"--mlir-elide-elementsattrs-if-larger={most}")
            assert without_elements(whole, most) == short != whole
