"""Units of generated code answer for the operations in them."""

from __future__ import annotations

from actiondbg.lineage.lineage import Evidence, LineageStep, Loss, Trace, Tracking
from actiondbg.lineage.units import roll_up, rolled_up, unit_label, units_of
from tests.fakes.lineage.lineage import written_stage

STAGE = written_stage(
    "output",
    """\
1 builtin.module
  2 memref.global @weights
  3 func.func @main
    4 memref.alloc
    5 scf.for
      6 scf.for
        7 arith.mulf
      8 linalg.fill
        9 linalg.yield
    10 func.return
  11 gpu.module @kernels
    12 gpu.func @kernel
      13 gpu.return
""",
)


def nodes(level: str, *given: int) -> list[int]:
    operations = [one for number in given if (one := STAGE.of_node(number)) is not None]
    return [one.node for one in roll_up(operations, level)]  # pyright: ignore[reportArgumentType]


def test_units_of_loops() -> None:
    units = units_of(STAGE, "loop")
    assert [STAGE.nodes[unit] if unit >= 0 else 0 for unit in units] == [
        *(0, 2, 3, 3, 5, 5, 5, 5, 5, 3),
        *(0, 12, 12),
    ]


def test_units_of_dispatches() -> None:
    units = units_of(STAGE, "dispatch")
    assert [STAGE.nodes[unit] if unit >= 0 else 0 for unit in units[-4:]] == [3, 0, 12, 12]


def test_only_the_outermost_loop_answers() -> None:
    assert nodes("loop", 4, 5, 6, 7) == [5]


def test_a_loop_made_answers_inside_one_that_was_there() -> None:
    assert nodes("loop", 6, 7) == [6]


def test_an_operation_in_a_loop_that_was_there() -> None:
    assert nodes("loop", 7) == [5]


def test_operations_outside_loops_answer_for_themselves() -> None:
    assert nodes("loop", 4, 10) == [4, 10]


def test_a_kernel_answers_and_else_the_function() -> None:
    assert nodes("dispatch", 4, 13) == [12]
    assert nodes("dispatch", 4) == [3]


def test_globals_answer_for_themselves() -> None:
    assert nodes("function", 2, 7) == [2, 3]


def test_the_best_trace_of_a_unit_is_kept() -> None:
    guess = LineageStep(Evidence.LOCATION, 100, 5)
    sure = (LineageStep(Evidence.REPLACED, 100, 101), LineageStep(Evidence.CLONED, 101, 7))
    loop, body, exit = (one for number in (5, 7, 10) if (one := STAGE.of_node(number)))
    traces = (Trace(loop, (guess,)), Trace(body, sure), Trace(exit, (guess,)))
    lost = (Loss(9, "dead"),)
    rolled = rolled_up(Tracking(traces, lost), "loop")
    assert rolled == Tracking((Trace(loop, sure, inside=body),), lost)
    assert rolled_up(Tracking(traces), "operation").traces == traces
    assert rolled_up(Tracking((), lost), "loop") == Tracking((), lost)


def test_labels() -> None:
    assert [unit_label(STAGE, at) for at in (-1, 2, 4)] == ["", "@main", "scf.for in @main line 5"]
