"""The pipeline that runs of passes make, and references to one of them."""

from __future__ import annotations

from typing import Any

import pytest

from actiondbg.analysis.actions import ActionState, ListedAction, Window, state_of
from actiondbg.analysis.pipeline import PipelinePass, find_pass, find_pass_end, pipeline_of
from actiondbg.errors import UsageError
from actiondbg.protocol import Outcome

ADAPTOR = "mlir::detail::OpToOpPassAdaptor"
MODULE = ("builtin.module", 1)


def run(
    ordinal: int,
    depth: int,
    name: str,
    op: tuple[str, int] = MODULE,
    state: ActionState = "over",
    result: Any = "succeeded",
    changes: int = 1,
) -> ListedAction:
    return ListedAction(
        ordinal=ordinal,
        tag="pass-execution",
        name=name,
        op=op[0],
        id=op[1],
        depth=depth,
        state=state,
        outcome=None if result is None else Outcome(result=result),
        change_count=changes,
        seconds=0.5,
    )


def names(passes: list[PipelinePass]) -> list[Any]:
    return [(one.name, one.ordinals, names(one.passes)) for one in passes]


def test_functions_share_the_passes_of_an_adaptor() -> None:
    f, g = ("func.func", 2), ("func.func", 3)
    runs = [
        run(1, 0, ADAPTOR),
        run(2, 1, "cse", f),
        run(3, 1, "canonicalize", f),
        run(9, 1, "cse", f),
        run(10, 1, "cse", g),
        run(11, 1, "canonicalize", g),
        run(12, 1, "cse", g),
        run(13, 0, "cse"),
        run(14, 0, "cse"),
    ]
    nested: list[Any] = [("cse", [2, 10], []), ("canonicalize", [3, 11], []), ("cse", [9, 12], [])]
    expected: list[Any] = [("", [1], nested), ("cse", [13], []), ("cse", [14], [])]
    assert names(pipeline_of(runs)) == expected


def test_pipelines_of_two_kinds_of_operations_are_apart() -> None:
    f, g = ("func.func", 2), ("gpu.module", 3)
    runs = [run(1, 0, ADAPTOR), run(2, 1, "cse", f), run(3, 1, "cse", g), run(4, 1, "sccp", g)]
    [adaptor] = pipeline_of(runs)
    assert [(one.op, one.name) for one in adaptor.passes] == [
        ("func.func", "cse"),
        ("gpu.module", "cse"),
        ("gpu.module", "sccp"),
    ]


def test_passes_that_a_pass_runs_are_grouped_by_name() -> None:
    f, g = ("func.func", 2), ("func.func", 3)
    runs = [
        run(1, 0, "inline"),
        run(2, 1, "canonicalize", f),
        run(3, 1, "canonicalize", f),
        run(4, 1, "canonicalize", g),
    ]
    assert names(pipeline_of(runs)) == [("inline", [1], [("canonicalize", [2, 3, 4], [])])]


def test_the_numbers_of_a_place() -> None:
    f, g, h = ("func.func", 2), ("func.func", 3), ("func.func", 4)
    runs = [
        run(1, 0, ADAPTOR, state="running"),
        run(2, 1, "cse", f, changes=3),
        run(3, 1, "cse", g, result="unchanged", changes=0),
        run(4, 1, "cse", h, state="ahead", result="skipped", changes=0),
        run(5, 0, "sccp", state="ahead", result="failed", changes=0),
        run(6, 0, "crashes", state="ahead", result=None, changes=0),
    ]
    [adaptor, sccp, crashes] = pipeline_of(runs)
    [cse] = adaptor.passes
    assert (adaptor.state, cse.state, sccp.state) == ("running", "running", "ahead")
    assert (cse.finished, cse.changed, cse.skipped, cse.changes, cse.seconds) == (2, 1, 1, 3, 1.5)
    assert (sccp.failed, sccp.finished, sccp.unended, crashes.unended) == (1, 0, 0, 1)


def test_a_run_is_found_by_name_and_number() -> None:
    runs = [run(1, 0, ADAPTOR), run(2, 1, "cse"), run(3, 1, "canonicalize"), run(7, 0, "cse")]
    assert find_pass(runs, "cse") == 2
    assert find_pass(runs, "cse#2") == 7
    assert find_pass(runs, "c*#2") == 3
    with pytest.raises(UsageError, match="The pass cse runs 2 times: name a run from cse#1"):
        find_pass(runs, "cse#3")
    with pytest.raises(UsageError, match="the passes of this run are cse, canonicalize"):
        find_pass(runs, "sccp")
    with pytest.raises(UsageError, match=r"The \[ in '\[a' is not closed"):
        find_pass(runs, "[a#2")


def test_a_window_is_around_the_stop_as_far_as_there_are_actions() -> None:
    assert Window(count=4).begin(before=10, total=100) == 8
    assert Window(count=4).begin(before=1, total=100) == 0
    assert Window(count=4).begin(before=100, total=100) == 96
    assert Window(count=4).begin(before=2, total=3) == 0
    assert Window(first=50, count=4).begin(before=49, total=100) == 49


def test_the_action_of_a_stop_before_it_is_ahead() -> None:
    assert state_of(begin=5, end=9, here=5) == "ahead"
    assert state_of(begin=5, end=9, here=6) == "running"
    assert state_of(begin=5, end=9, here=9) == "over"
    assert state_of(begin=5, end=None, here=9) == "running"


def test_a_pass_ends_after_its_last_operation() -> None:
    f, g = ("func.func", 2), ("func.func", 3)
    runs = [
        run(1, 0, ADAPTOR),
        run(2, 1, "canonicalize", f),
        run(3, 1, "cse", f),
        run(4, 1, "canonicalize", f),
        run(5, 1, "canonicalize", g),
        run(6, 1, "cse", g),
        run(7, 1, "canonicalize", g),
        run(8, 0, "cse"),
    ]
    ends = [
        find_pass_end(runs, name) for name in ("canonicalize", "canonicalize#1", "cse", "cse#3")
    ]
    assert ends == [5, 2, 6, 8]
    with pytest.raises(UsageError, match="No pass 'sccp' runs"):
        find_pass_end(runs, "sccp")
