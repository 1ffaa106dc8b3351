"""Operations that print the arguments of their regions, in tools without headers."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import actiondbg
from tests.tool.targets.targets import TARGETS

IREE = TARGETS["iree"]
pytestmark = IREE.marks

# The operation is isolated from above, has operands, and names the arguments on its own line.
DISPATCH = """\
util.func public @main(%given: tensor<4xf32>, %unused: tensor<4xf32>) -> tensor<4xf32> {
  %made = flow.dispatch.workgroups(%given) : (tensor<4xf32>) -> tensor<4xf32> =
      (%in: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>>,
       %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xf32>>) {
    %read = iree_tensor_ext.dispatch.tensor.load %in, offsets = [0], sizes = [4], strides = [1]
        : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>> -> tensor<4xf32>
    iree_tensor_ext.dispatch.tensor.store %read, %out, offsets = [0], sizes = [4], strides = [1]
        : tensor<4xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xf32>>
    flow.return
  }
  util.return %made : tensor<4xf32>
}
"""
_VALUE = re.compile(r"%[\w$.-]*\w")


def test_a_dispatch_is_printed_with_its_names(tmp_path: Path) -> None:
    source = tmp_path / "dispatch.mlir"
    source.write_text(DISPATCH)
    argv = [str(IREE.programs["iree-opt"]), str(source)]
    own = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    with actiondbg.launch([*argv, "--canonicalize", "-o", str(tmp_path / "out.mlir")]) as session:
        session.start()
        whole = session.ir.print("module").text
        assert _VALUE.sub("%_", whole).split() == _VALUE.sub("%_", own).split()
        assert {*_VALUE.findall(whole)} == {*_VALUE.findall(DISPATCH)}
        session.cursor.goto("%made")
        lines = [line.text for line in session.ir.excerpt(before=20, after=20).lines]
        assert "(%in: " in lines[2] and "%out: " in lines[2], lines
        assert any("%read = " in line and " %in," in line for line in lines), lines
