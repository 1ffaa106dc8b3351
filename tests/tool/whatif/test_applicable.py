"""What could change the IR of a stop, with real tools of both builds."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg import whatif
from actiondbg.errors import NotStopped, UsageError

Launch = Callable[..., actiondbg.Session]


def test_each_pass_of_the_tool_is_tried(launch: Launch, mlir_opt: str, folds: str) -> None:
    session = launch("--canonicalize", "--cse")
    stop = session.start()
    progress: list[tuple[int, int]] = []
    tried = whatif.try_passes(session, progress=lambda done, all: progress.append((done, all)))
    found = {one.name: one for one in tried}
    listed = subprocess.run([mlir_opt, "--list-passes"], capture_output=True, text=True)
    assert found.keys() == set(re.findall(r"^  --(\S+)", listed.stdout, re.MULTILINE))
    assert len(tried) > 200 and progress[-1] == (len(tried), len(tried))
    assert [one.changes for one in tried] == sorted((one.changes for one in tried), reverse=True)
    assert found["canonicalize"].result == "changed"
    assert found["affine-loop-fusion"].result == "unchanged"
    assert found["convert-func-to-llvm"].result == "changed"
    # It runs on functions, and is nested for it.
    assert found["linalg-detensorize"].pipeline == "func.func(linalg-detensorize)"
    assert found["spirv-update-vce"].result == "impossible"
    assert found["transform-interpreter"].result == "failed"
    if "test-pass-crash" in found:  # of builds with MLIR's tests
        assert found["test-pass-crash"].result == "crashed"
    assert session.stop == stop
    assert sorted(path.name for path in Path.cwd().iterdir()) == [folds]
    # After the pass it would change nothing more.
    session.next()
    again = {one.name: one for one in whatif.try_passes(session)}
    assert again["canonicalize"].result == "unchanged"
    assert again["convert-func-to-llvm"].result == "changed"


def test_the_patterns_of_a_pass(launch: Launch) -> None:
    session = launch()
    session.start()
    found = whatif.applicable_patterns(session)
    session.run()
    rows = {row.name: row for row in session.past.statistics("pattern") if row.succeeded}
    assert {one.name: one.succeeded for one in found} == {
        name: row.succeeded for name, row in rows.items()
    }
    assert found[0].name == "AddIAddConstant"


def test_the_patterns_from_a_stop_inside_a_pass(launch: Launch) -> None:
    session = launch()
    session.breakpoints.add("pattern:AddIAddConstant", outcome="succeeded")
    session.run()
    (found,) = whatif.applicable_patterns(session)
    assert (found.name, found.succeeded) == ("AddIAddConstant", 1)


def test_it_needs_a_stop_at_a_pass(launch: Launch) -> None:
    session = launch()
    with pytest.raises(NotStopped):
        whatif.try_passes(session)
    session.breakpoints.add("pattern:AddIAddConstant")
    session.run()
    with pytest.raises(UsageError, match="Inside a pass no other pass can be tried"):
        whatif.try_passes(session)
    session.breakpoints.delete([1])
    session.breakpoints.add("pass:canonicalize", after=True)
    session.run()
    with pytest.raises(UsageError, match="not stopped before a pass or inside one"):
        whatif.applicable_patterns(session)
