"""A trial: a tool that compiles a sample with the agent in it.

Runs in a process of its own, ``python -m actiondbg.doctor.trial``, which ends with everything that
it started when the time is over.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence

import msgspec

from actiondbg import protocol
from actiondbg.doctor.subject import Subject
from actiondbg.errors import ActiondbgError
from actiondbg.session.session import launch
from actiondbg.support.scratch_directory import scratch_directory

_LEARNING = 20  # events
_CRASHES = ("crash", "crashed")


class TrialResult(msgspec.Struct):
    """The result of a trial.

    Args:
        hello: of the agent, or None if the tool made no MLIR context.
        problem: why the tool did not reach an action: the end of a sentence, or None.
        refusal: why the tool cannot be debugged: a sentence with the remedy, or None.
        crash: how a signal ended the tool after its first action: a sentence, or None.
        facts: what the agent knew near the first action, or None.
    """

    hello: protocol.Hello | None
    problem: str | None = None
    refusal: str | None = None
    crash: str | None = None
    facts: protocol.Facts | None = None


def run_trial(subject: Subject, seconds: float, without: Sequence[str] = ()) -> TrialResult:
    """Run a tool on its sample to its end, with stops near its first action.

    Args:
        subject: the tool or the package.
        seconds: the limit.
        without: names of capabilities that the agent does not use.
    """
    with scratch_directory("trial") as directory:
        subject.sample.write(directory)
        argv = [str(subject.program), *subject.sample.arguments]
        off = ",".join(without)
        command = [sys.executable, "-m", "actiondbg.doctor.trial", off, *argv]
        try:
            done = subprocess.run(
                command,
                cwd=directory,
                env={**os.environ, **subject.sample.environment},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return TrialResult(None, f"it reached no action within {seconds:g} s")
    try:
        return msgspec.json.decode(done.stdout, type=TrialResult)
    except msgspec.DecodeError:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return TrialResult(None, f"the trial failed ({' '.join(last)})")


def _try(without: str, argv: list[str]) -> TrialResult:
    try:
        off = without.split(",") if without else ()
        with launch(argv, without=off) as session:
            stop = session.start()
            hello = session.target.hello
            if stop.when != "exit":
                facts = session.target.facts()
                # The agent learns layouts from the IR of the first actions that have some.
                stop = session.step(_LEARNING)
                if stop.when != "exit":
                    facts = session.target.facts()
                hello = session.target.hello or hello
                crash = None
                while stop.when != "exit":
                    stop = session.continue_()  # a tool may stop once more, in its crash
                    crash = crash or (stop.message if stop.reason in _CRASHES else None)
                return TrialResult(hello, crash=crash, facts=facts)
            errors = session.target.errors().strip().splitlines()[-1:]
    except ActiondbgError as error:
        return TrialResult(None, refusal=str(error))
    how = f"it ended with status {stop.status} before any action"
    return TrialResult(hello, f"{how} ({errors[0]})" if errors else how)


def main() -> None:
    """Print the result of a trial as JSON."""
    result = _try(sys.argv[1], sys.argv[2:])
    sys.stdout.write(json.dumps(msgspec.to_builtins(result)))


if __name__ == "__main__":
    main()
