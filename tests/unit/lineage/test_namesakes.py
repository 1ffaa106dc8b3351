"""Functions and symbols of one name, told apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest

from actiondbg.lineage.recorded.namesakes import Definers, FirstFunctions
from actiondbg.lineage.stage import Operation, Stage, scanned_stage

MODULE = """\
module {{
  func.func @main() {{
    t.{0}
    return
  }}
}}
"""

KERNEL = """\
gpu.module @kernels{0} {{
  gpu.func @kernel() kernel {{
    t.op{0}
    gpu.return
  }}
}}
"""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The operations whose scopes were asked for."""
    asked: list[int] = []
    around = Stage.around

    def counted(self: Stage, index: int) -> Iterator[int]:
        asked.append(index)
        return around(self, index)

    monkeypatch.setattr(Stage, "around", counted)
    return asked


def _stage(count: int) -> Stage:
    modules = "".join(MODULE.format(f"op{number}") for number in range(count))
    return scanned_stage(f"module {{\n{modules}}}\n", "input", first_node=1).stage


def _functions(stage: Stage, acted_on: Mapping[int, Sequence[int]]) -> FirstFunctions:
    """Tell functions apart; the operations of actions are given by ordinal."""
    return FirstFunctions(stage, lambda ordinal: acted_on.get(ordinal, ()))


def _main(operation: Operation) -> str:
    return f"main @{operation.around[0].node}"


def test_the_operations_of_actions_show_the_function() -> None:
    stage = _stage(2)
    [one], [other] = stage.named("t.op0"), stage.named("t.op1")
    outer, module = one.around[-1].node, other.around[1].node
    # Of a pattern on an operation of the input, of one on what that made, and of passes.
    functions = _functions(
        stage,
        {1: [other.node, outer], 2: [900, outer], 3: [module, outer], 4: [outer], 5: [901, outer]},
    )
    assert dict(functions.of_input())[one.node] == _main(one)
    assert functions.of_made(900, "main", 1) == _main(other)
    assert functions.of_made(901, "main", 2) == _main(other)
    assert functions.of_made(902, "main", 3) == _main(other)
    assert functions.of_made(903, "main", 5) == _main(other)
    assert functions.of_made(904, "helper", 4) == "helper"


@pytest.mark.parametrize("ordinal", [4, 5])
def test_the_function_is_unknown_if_an_action_is_on_several(ordinal: int) -> None:
    stage = _stage(2)
    functions = _functions(stage, {4: [stage[0].node], 5: []})
    assert functions.of_made(900, "main", ordinal) == ""


def test_the_time_for_what_is_made_does_not_grow_with_the_functions(
    asked: list[int],
) -> None:
    stage = _stage(100)
    [last] = stage.named("t.op99")
    functions = _functions(stage, {1: [one.node for one in last.around]})
    asked.clear()
    for number in range(900, 910):
        assert functions.of_made(number, "main", 1).startswith("main @")
    assert len(asked) <= 20


# --- symbols ---


def _kernels(count: int) -> Stage:
    kernels = "".join(KERNEL.format(number) for number in range(count))
    text = f"module {{\nfunc.func @main() {{\n  t.use\n  return\n}}\n{kernels}}}\n"
    return scanned_stage(text, "output").stage


def _found(stage: Stage, user: str, path: str) -> list[int]:
    return list(Definers(stage).of(stage.named(user)[0].index, path))


def test_a_path_leads_to_the_operation_that_a_user_sees() -> None:
    stage = _kernels(3)
    modules, kernels = (stage.named(name) for name in ("gpu.module", "gpu.func"))
    for at, (module, kernel) in enumerate(zip(modules, kernels, strict=True)):
        assert _found(stage, "t.use", f"kernels{at}::kernel") == [module.index, kernel.index]
        assert _found(stage, f"t.op{at}", "kernel") == [kernel.index]
    # From outside of the scope of all, the last one.
    assert _found(stage, "t.use", "kernel") == [kernels[-1].index]
    assert _found(stage, "t.use", "nothing") == []


def test_the_time_of_uses_does_not_grow_with_the_symbols_of_a_name(
    asked: list[int],
) -> None:
    stage = _kernels(100)
    definers = Definers(stage)
    [user] = stage.named("t.use")
    asked.clear()
    for _ in range(10):
        assert len([*definers.of(user.index, "kernel")]) == 1
    assert len(asked) <= 10
