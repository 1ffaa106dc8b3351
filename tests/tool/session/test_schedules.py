"""Schedules of the transform dialect: each operation that is interpreted is a step of a session."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg.process.stop import Stop
from tests.conftest import LIBRARY

BUILDS = LIBRARY

Launch = Callable[..., actiondbg.Session]

PAYLOAD = """\
  func.func @f(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%b : tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
"""
TILE = """\
    %1, %l:2 = transform.structured.tile_using_for %0 tile_sizes [4, 4, 0]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
"""
ANNOTATE = '    transform.annotate %1 "tiled" : !transform.any_op\n'
SEEN = '    transform.annotate %x "seen" : !transform.any_op\n'
EACH = """\
    transform.foreach %0 : !transform.any_op {
    ^bb0(%x: !transform.any_op):
      transform.include @helper failures(propagate) (%x) : (!transform.any_op) -> ()
    }
"""
CANONICALIZE = """\
    transform.apply_patterns to %f {
      transform.apply_patterns.canonicalization
    } : !transform.any_op
"""
SCHEDULE = f"""\
  transform.named_sequence @helper(%x: !transform.any_op {{transform.readonly}}) {{
{SEEN}    transform.yield
  }}
  transform.named_sequence @__transform_main(%root: !transform.any_op {{transform.readonly}}) {{
    %0 = transform.structured.match ops{{["linalg.matmul"]}} in %root
      : (!transform.any_op) -> !transform.any_op
{EACH}{TILE}{ANNOTATE}\
    %f = transform.structured.match ops{{["func.func"]}} in %root
      : (!transform.any_op) -> !transform.any_op
{CANONICALIZE}\
    transform.yield
  }}
"""
HEAD = "module attributes {transform.with_named_sequence} {\n"
MODULE = f"{HEAD}{PAYLOAD}{SCHEDULE}}}\n"
INTERPRET = "--transform-interpreter"
STEPS = [
    ("structured.match", 1),
    ("foreach", 1),
    ("include", 2),
    ("annotate", 3),
    ("structured.tile_using_for", 1),
    ("annotate", 1),
    ("structured.match", 1),
    ("apply_patterns", 1),
]


def stock(mlir_opt: str, text: str) -> str:
    """Return the payload that the tool alone makes of a module, without the schedule."""
    argv = [mlir_opt, "-", INTERPRET]
    done = subprocess.run(argv, input=text, capture_output=True, text=True, check=True)
    return payload(done.stdout)


def payload(text: str) -> str:
    return text[text.index("func.func @f(") : text.index("transform.named_sequence")]


def at_step(session: actiondbg.Session, name: str, nth: int = 1) -> Stop:
    session.breakpoints.add(f"tag:transform-op and op:transform.{name}")
    session.run()
    for _ in range(nth - 1):
        session.continue_()
    assert session.stop is not None
    assert (session.stop.tag, session.stop.name) == ("transform-op", f"transform.{name}")
    return session.stop


@pytest.fixture
def scheduled(launch: Launch) -> actiondbg.Session:
    Path("in.mlir").write_text(MODULE)
    return launch(INTERPRET, source="in.mlir")


def test_each_operation_is_a_step_around_its_changes(
    scheduled: actiondbg.Session, mlir_opt: str
) -> None:
    assert scheduled.run().when == "exit"
    assert payload(scheduled.target.output()) == stock(mlir_opt, MODULE)
    found = scheduled.past.actions(count=10**6).actions
    steps = [one for one in found if one.tag == "transform-op"]
    assert [(one.name.removeprefix("transform."), one.depth) for one in steps] == STEPS
    results = [one.outcome.result if one.outcome else None for one in steps]
    # An attribute is set without a notification.
    lookups = [one.endswith("match") for one, _ in STEPS]
    assert results == ["unchanged" if one else "succeeded" for one in lookups]
    tile, canonicalize = steps[4], steps[7]
    folds = [one for one in found if one.tag == "fold" and one.name == "affine.apply"]
    assert folds and {one.depth for one in folds} == {2}
    assert {tile.ordinal < one.ordinal < steps[5].ordinal for one in folds} == {True}
    inner = [one for one in found if one.tag == "GreedyPatternRewriteIteration"]
    assert [one.depth for one in inner] == [2] and inner[0].ordinal > canonicalize.ordinal


def test_a_step_is_shown_with_its_place_and_what_it_changed(scheduled: actiondbg.Session) -> None:
    stop = at_step(scheduled, "annotate")
    line = MODULE[: MODULE.index(SEEN)].count("\n") + 1
    assert (stop.location, stop.function) == (f"in.mlir:{line}:5", "helper")
    assert [frame.name for frame in scheduled.stack.frames()] == [
        "transform.annotate",
        "transform.include",
        "transform.foreach",
        "transform-interpreter",
    ]
    after = scheduled.next()
    assert after.outcome is not None and after.outcome.result == "succeeded"
    assert [(one.kind, one.op) for one in after.changes] == [("modified", "linalg.matmul")]
    changed = [one for one in scheduled.past.diff().unified() if one.startswith("+ ")]
    assert len(changed) == 1 and "linalg.matmul {seen}" in changed[0]


NOTHING = "".join(
    f'    {name} = transform.structured.match ops{{["no.one"]}} in %root\n'
    "      : (!transform.any_op) -> !transform.any_op\n"
    for name in ("%1", "%l0", "%l1")
)


@pytest.mark.parametrize(
    ("name", "nth", "old", "new"),
    [
        ("annotate", 1, SEEN, ""),
        ("annotate", 2, ANNOTATE, ""),
        ("foreach", 1, EACH, ""),
        ("apply_patterns", 1, CANONICALIZE, ""),
        # Those after it find nothing in its results.
        ("structured.tile_using_for", 1, TILE, NOTHING),
        ("structured.match", 1, '["linalg.matmul"]', '["no.one"]'),
    ],
)
def test_a_skip_leaves_an_operation_out(
    scheduled: actiondbg.Session, mlir_opt: str, name: str, nth: int, old: str, new: str
) -> None:
    at_step(scheduled, name, nth)
    scheduled.breakpoints.delete([1])
    assert scheduled.skip().when == "exit"
    assert scheduled.exit_status == 0
    assert MODULE.count(old) == 1
    expected = stock(mlir_opt, MODULE.replace(old, new))
    assert payload(scheduled.target.output()) == expected != stock(mlir_opt, MODULE)


def test_a_silenceable_failure_is_a_failure(launch: Launch) -> None:
    Path("in.mlir").write_text(MODULE.replace('linalg.matmul"]', 'func.func"]'))
    session = launch(INTERPRET, source="in.mlir")
    session.run()
    assert session.exit_status == 1
    steps = [one for one in session.past.actions(count=99).actions if one.tag == "transform-op"]
    assert [one.name.removeprefix("transform.") for one in steps] == [one for one, _ in STEPS[:5]]
    results = [one.outcome.result if one.outcome else None for one in steps]
    assert results == ["unchanged", *["succeeded"] * 3, "failed"]


def test_a_schedule_in_a_library(launch: Launch, mlir_opt: str) -> None:
    Path("in.mlir").write_text(f"module {{\n{PAYLOAD}}}\n")
    Path("library.mlir").write_text(f"{HEAD}{SCHEDULE}}}\n")
    library = "--transform-preload-library=transform-library-paths=library.mlir"
    argv = [mlir_opt, "in.mlir", library, INTERPRET]
    session = launch(library, INTERPRET, source="in.mlir")
    stop = at_step(session, "annotate")
    assert stop.location == "library.mlir:3:5"
    with session.ir.print("module") as printed:
        assert "func.func @f(" in printed.text
    # Of the same module, not of the library.
    assert session.ir.count("linalg.matmul") == 1
    assert session.ir.count("transform.*") == 0
    session.next()
    assert any("linalg.matmul {seen}" in line for line in session.past.diff().unified())
    session.breakpoints.delete([1])
    session.continue_()
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert session.target.output() == done.stdout
