"""The operations that symbols mean, where several scopes have one name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from actiondbg.lineage.recorded.definers import Definers
from actiondbg.lineage.stage import Stage, scanned_stage

KERNEL = """\
gpu.module @kernels{0} {{
  gpu.func @kernel() kernel {{
    t.op{0}
    gpu.return
  }}
}}
"""


def _stage(count: int) -> Stage:
    kernels = "".join(KERNEL.format(number) for number in range(count))
    text = f"module {{\nfunc.func @main() {{\n  t.use\n  return\n}}\n{kernels}}}\n"
    return scanned_stage(text, "output").stage


def _found(stage: Stage, user: str, path: str) -> list[int]:
    return list(Definers(stage).of(stage.named(user)[0].index, path))


def test_a_path_leads_to_the_operation_that_a_user_sees() -> None:
    stage = _stage(3)
    modules, kernels = (stage.named(name) for name in ("gpu.module", "gpu.func"))
    for at, (module, kernel) in enumerate(zip(modules, kernels, strict=True)):
        assert _found(stage, "t.use", f"kernels{at}::kernel") == [module.index, kernel.index]
        assert _found(stage, f"t.op{at}", "kernel") == [kernel.index]
    # From outside of the scope of all, the last one.
    assert _found(stage, "t.use", "kernel") == [kernels[-1].index]
    assert _found(stage, "t.use", "nothing") == []


def test_the_time_of_uses_does_not_grow_with_the_symbols_of_a_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = _stage(100)
    definers = Definers(stage)
    [user] = stage.named("t.use")
    asked: list[int] = []
    around = Stage.around

    def counted(self: Stage, index: int) -> Iterator[int]:
        asked.append(index)
        return around(self, index)

    monkeypatch.setattr(Stage, "around", counted)
    for _ in range(10):
        assert len([*definers.of(user.index, "kernel")]) == 1
    assert len(asked) <= 10
