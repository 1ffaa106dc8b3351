"""A run of a compiler, and what it has: a pattern that changes IR, a fold, a reason."""

from __future__ import annotations

import functools
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import actiondbg
from actiondbg.process.stop import Stop
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from scripts.benchmarks.inputs import additions
from tests.paths import INPUTS
from tests.tool.targets.targets import TARGETS, Target

_FOLDED = ["mlir/integers.mlir", "--canonicalize", "--cse"]
_RUNS = {
    "mlir-opt": ["mlir-opt", *_FOLDED],
    "debian19": ["mlir-opt", *_FOLDED],
    "iree": ["iree-opt", *_FOLDED],
    "torch-mlir": ["torch-mlir-opt", *_FOLDED],
    "catalyst": ["catalyst", *_FOLDED, "--tool=opt"],
    "triton": ["python", "triton/kernels.py", "matmul"],
    "jax": ["python", "jax/functions.py", "slope"],
}
# Of these programs, work for a second.
_OFTEN = {"triton": ["matmul"] * 10, "jax": ["layer", "slope", "running"] * 3}


@dataclass(frozen=True)
class Scene:
    """A command of a compiler, and what its run has.

    Args:
        target: the compiler.
        argv: the command line.
        actions: the rows of its recording.
    """

    target: Target
    argv: list[str]
    actions: list[dict[str, Any]]

    def launch(self, directory: Path, argv: list[str] | None = None) -> actiondbg.Session:
        """Return a new session in a directory, on ``argv`` or another command line."""
        return actiondbg.launch(argv or self.argv, cwd=directory, env=self.target.env())

    @property
    def is_program(self) -> bool:
        """Whether a Python program compiles, and not a tool on a file."""
        return self.target.name in _OFTEN

    def long(self, directory: Path) -> list[str]:
        """Return a command line that takes a second."""
        if self.is_program:
            return [*self.argv[:2], *_OFTEN[self.target.name]]
        source = additions(directory / "many.mlir", 4000)
        others = [word for word in self.argv[2:] if word not in _FOLDED]
        return [self.argv[0], str(source), *["--canonicalize", "--cse"] * 8, *others]

    def first(self, **wanted: object) -> dict[str, Any]:
        """Return the first action whose columns have values, or any value where it is ``...``."""
        for action in self.actions:
            if all(
                action[column] is not None if value is ... else action[column] == value
                for column, value in wanted.items()
            ):
                return action
        raise AssertionError(f"no action of {self.target.name} has {wanted}")

    @property
    def pattern(self) -> dict[str, Any]:
        """The first application of a pattern that changed the IR, at a place of a file.

        There the pattern was not tried before, so that a breakpoint finds this application.
        """
        tried: set[tuple[object, ...]] = set()
        for action in self.actions:
            place = action["name"], action["op"], action["line"]
            is_new = place not in tried and action["tag"] == "apply-pattern"
            if is_new and action["file"] and action["changed"] and action["outcome"] == "succeeded":
                return action
            tried.add(place)
        raise AssertionError(f"no pattern of {self.target.name} changed anything")

    @property
    def fold(self) -> dict[str, Any]:
        """The first fold that succeeded."""
        return self.first(tag="fold", outcome="succeeded")

    @property
    def failure(self) -> dict[str, Any]:
        """The first failure with a reason."""
        return self.first(tag="apply-pattern", outcome="failed", reason=...)

    def stop_at_pattern(self, session: actiondbg.Session) -> Stop:
        """Run a session up to before the application of ``pattern``.

        By name and place, not by ordinal: those of threads differ from run to run.
        """
        action = self.pattern
        session.breakpoints.add(
            f"pattern:{action['name']} and op:{action['op']}", f"line == {action['line']}"
        )
        stop = session.run()
        assert (stop.when, stop.tag, stop.name) == ("before", "apply-pattern", action["name"])
        return stop


def run_to_end(session: actiondbg.Session) -> Stop:
    """Continue to the end of the program, over all of its processes."""
    session.breakpoints.delete([each.id for each in session.breakpoints.all()])
    stop = session.continue_()
    while stop.status is None:
        stop = session.continue_()
    return stop


@functools.cache
def scene_of(name: str) -> Scene:
    """Return the scene of a compiler; its command is recorded once in this process."""
    target = TARGETS[name]
    program, source, *words = _RUNS[name]
    argv = [str(target.programs[program]), str(INPUTS / "tools" / source), *words]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "run.adbrec"
        done = record(argv, path, stdout=os.devnull, cwd=directory, env=target.env())
        assert done.status == 0 and done.path is not None
        return Scene(target, argv, open_recording(done.path).table("actions").to_pylist())
