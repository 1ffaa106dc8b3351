"""An input that the verifier refuses: it comes before the actions by which layouts are learned."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import actiondbg
from tests.paths import COMMAND
from tests.tool.targets.targets import TARGETS

TOOLS = {
    "mlir-opt": "mlir-opt",
    "debian19": "mlir-opt",
    "iree": "iree-opt",
    "torch-mlir": "torch-mlir-opt",
}
RETURN = (
    "func.func @f() -> i32 {\n  return\n}\n",
    "'func.return' op has 0 operands, but enclosing function (@f) returns 1",
)
# Of such an error only the location is known, so that the operation is looked for.
SIZES = (
    """\
func.func @f(%a: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = "stablehlo.cholesky"(%a) {lower = true} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
""",
    "minor dimensions of 'a' must have equal size, got shape 3, 4",
)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        pytest.param(name, *case, marks=TARGETS[name].marks, id=f"{name}-{id}")
        for id, case, names in (
            ("return", RETURN, TOOLS),
            ("sizes", SIZES, ("iree", "torch-mlir")),
        )
        for name in names
    ],
)
def test_it_is_explained_and_caught(name: str, text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(text)
    tool = [str(TARGETS[name].programs[TOOLS[name]]), str(tmp_path / "in.mlir"), "--canonicalize"]
    explain = [COMMAND, "explain", "--", *tool]
    done = subprocess.run(explain, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    sentence = (
        "No dialect conversion failed. The verifier failed for the input, on builtin.module: "
    )
    assert done.stdout.startswith(f"{sentence}{message}")
    for kind in ("verify", "diagnostic"):
        with actiondbg.launch(tool) as session:
            session.breakpoints.catch(kind)
            stop = session.run()
            assert stop.reason == "catch" and message in (stop.message or "")
