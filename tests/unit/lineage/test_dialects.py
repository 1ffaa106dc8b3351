"""The scanner over dialects that upstream's parser does not have, as their tools print them."""

from __future__ import annotations

import random

import pytest

from actiondbg.lineage.stage import Stage, scanned_stage
from tests.paths import INPUTS


def stage(name: str) -> Stage:
    scanned = scanned_stage((INPUTS / "dialects" / f"{name}.mlir").read_text(), name)
    assert scanned.note == ""
    return scanned.stage


def test_triton() -> None:
    found = stage("triton")
    assert list(found.names) == [
        "builtin.module",
        "tt.func",
        "arith.constant",
        "tt.get_program_id",
        "scf.for",
        "tt.load",
        "scf.yield",
        "tt.reduce",
        "arith.addf",
        "tt.reduce.return",
        "ttg.warp_specialize",
        "ttg.warp_yield",
        "ttg.warp_return",
        "tt.return",
    ]
    assert found.symbols == {1: "kernel"}
    reduced = found.named("tt.reduce")[0].location
    assert reduced.text == ('callsite("sum"("/src/kernel.py":21:8) at "/src/kernel.py":30:4)')
    assert sorted(map(str, reduced.ranges)) == ["/src/kernel.py:21:8", "/src/kernel.py:30:4"]
    (load,) = found.named("tt.load")
    assert load.location.text == '"x"("/src/kernel.py":21:8)'


def test_iree() -> None:
    found = stage("iree")
    assert [found[parent].name for parent in found.parents if parent >= 0].count("util.func") == 5
    assert sorted(found.symbols.values()) == [
        "__device_0",
        "embedded",
        "hoisted",
        "main",
        "main_dispatch_0",
        "main_dispatch_0_matmul",
        "main_dispatch_0_matmul",
    ]
    dispatch = found.named("stream.cmd.dispatch")[0]
    assert found.symbol_uses[dispatch.index] == (
        "main_dispatch_0::embedded::main_dispatch_0_matmul",
    )
    assert dispatch.text.count("\n") == 3
    assert dispatch.children == []
    (store,) = found.named("util.global.store")
    assert found.symbol_uses[store.index] == ("hoisted",)
    assert len(found) == 27


@pytest.mark.parametrize(
    ("project", "names"),
    [
        (
            "torch",
            "builtin.module func.func torch.constant.int torch.vtensor.literal torch.prim.Loop "
            "torch.operator torch.prim.Loop.condition torch.aten.add.Tensor func.return",
        ),
        (
            "stablehlo",
            "func.func stablehlo.constant stablehlo.reduce stablehlo.reduce stablehlo.maximum "
            "stablehlo.return stablehlo.while stablehlo.compare stablehlo.return stablehlo.return "
            "func.return",
        ),
        (
            "circt",
            "hw.module hw.constant seq.firreg comb.add sv.ifdef sv.always sv.if sv.fwrite "
            "sv.passign hw.instance hw.output calyx.component calyx.register calyx.wires "
            "calyx.group calyx.assign calyx.group_done calyx.control calyx.seq calyx.enable",
        ),
    ],
)
def test_other_projects(project: str, names: str) -> None:
    assert list(stage(project).names) == names.split()


@pytest.mark.parametrize("project", ["triton", "iree", "torch", "stablehlo", "circt"])
def test_damaged_text_is_read_in_part(project: str) -> None:
    text = (INPUTS / "dialects" / f"{project}.mlir").read_text()
    draw, read, whole = random.Random(project), 0, len(stage(project))
    for _ in range(100):
        damaged = text
        for _ in range(draw.randrange(1, 6)):
            at = draw.randrange(len(damaged))
            put = draw.choice(["", "{", "}", "(", ")", '"', "%x = a.", "@", "^", "\n", " loc("])
            damaged = damaged[:at] + put + damaged[at + draw.choice([0, 1, 50]) :]
        found = scanned_stage(damaged, project, file="in.mlir", partial=True).stage
        assert list(found.lines) == sorted(found.lines)
        parents = enumerate(found.parents)
        assert [parent for index, parent in parents if not -1 <= parent < index] == []
        pairs = zip(found.lines, found.last_lines, strict=True)
        assert [(first, last) for first, last in pairs if first > last] == []
        assert [operation for operation in found if not operation.location.text] == []
        read += len(found)
    # One bracket more or less costs the operations around it.
    assert read > 100 * whole / 2
