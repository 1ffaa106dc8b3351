"""One random walk: its steps, the end, and the smallest part of it that fails."""

from __future__ import annotations

import difflib
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.paths import COMMAND
from tests.walks.case import OFTEN, OUT, Build, Case, Output, installed_tools
from tests.walks.cold import Written, cold_run
from tests.walks.front_end import Answer, Broken, FrontEnd
from tests.walks.model import Model, Stop
from tests.walks.views import Views

_MOST_ENDS = 12  # stops on the way to the end
_SHRINK_SECONDS = 150.0
_SHOWN_LINES = 30  # of a difference
_CHECK = "# check"
_OUTPUTS: tuple[Output, ...] = ("file", "file", "file", "stdout", "shared")
_EDITOR = """\
import re, sys
path = sys.argv[1]
text = open(path).read()
numbers = list(re.finditer(r"(?<=constant )\\d+(?= :)", text))
if numbers:
    one = numbers[-1]
    text = text[: one.start()] + str(int(one[0]) + 1) + text[one.end() :]
open(path, "w").write(text)
"""


@dataclass
class Failure:
    """A walk that failed.

    Attributes:
        seed: of the walk.
        case: what was debugged.
        broken: the property that did not hold.
        lines: the steps up to there.
    """

    seed: int
    case: Case
    broken: Broken
    lines: list[str] = field(default_factory=list[str])

    def __str__(self) -> str:
        script = "\n".join(f"  {line}" for line in self.lines)
        redirect = f"--tool-stdout {OUT} " if self.case.output == "stdout" else ""
        return (
            f"walk {self.seed} ({self.case}) failed: {self.broken}\n"
            f"  replay: scripts/test --walks 1 {self.seed}\n"
            f"  actiondbg {redirect}{' '.join(self.case.argv())}\n{script}\n"
        )


def case_of(seed: int, builds: dict[Build, str]) -> Case:
    """Choose what a walk debugs."""
    pick = random.Random(f"case {seed}")
    name = "network" if pick.random() < 0.03 else pick.choice(OFTEN)
    whole = Case(name, "pypi", "", "file")
    build: Build = pick.choice([one for one in whole.program.builds if one in builds])
    if build == "iree" and pick.random() < 0.5:  # it takes long to start
        build = "pypi"
    output: Output = pick.choice(_OUTPUTS)
    return Case(name, build, builds[build], output)


def walk(seed: int, steps: int, builds: dict[Build, str] | None = None) -> Failure | None:
    """Walk; return the failure, with as few steps as are found."""
    case = case_of(seed, builds or installed_tools())
    model = Model(case, seed)
    lines: list[str] = []

    def chosen() -> str | None:
        if len(lines) >= steps:
            return None
        line = _CHECK if lines and lines[-1] != _CHECK and model.wants(0.4) else model.choose()
        lines.append(line)
        return line

    broken = _run(case, model, chosen)
    if broken is None:
        return None
    return Failure(seed, case, broken, _shrunk(case, lines, broken))


def replay(case: Case, lines: list[str], command: Sequence[str] = (COMMAND,)) -> Broken | None:
    """Take the steps of a walk again.

    Args:
        case: what is debugged.
        lines: the steps.
        command: the front end.

    Returns:
        The property that does not hold, or None.
    """
    rest = iter(lines)
    return _run(case, Model(case, 0), lambda: next(rest, None), command)


def _run(
    case: Case,
    model: Model,
    chosen: Callable[[], str | None],
    command: Sequence[str] = (COMMAND,),
) -> Broken | None:
    with tempfile.TemporaryDirectory(prefix="walk-") as name:
        folder = Path(name) / "warm"
        folder.mkdir()
        case.program.write(folder / "in.mlir")
        (folder / "editor.py").write_text(_EDITOR)
        editor = f"{sys.executable} {folder / 'editor.py'}"
        front_end = FrontEnd(case, folder, editor=editor, command=command)
        try:
            _Run(case, model, front_end, Path(name) / "cold").go(chosen)
            front_end.close()
        except Broken as broken:
            return broken
        finally:
            front_end.kill()
    return None


class _Run:
    """A walk in progress."""

    def __init__(self, case: Case, model: Model, front_end: FrontEnd, cold: Path) -> None:
        self._case = case
        self._model = model
        self._front_end = front_end
        self._cold = cold
        self._views = Views(front_end)
        self._is_fresh = False

    def go(self, chosen: Callable[[], str | None]) -> None:
        """Take the steps, go to the end, and compare it with that of a cold run."""
        while (line := chosen()) is not None:
            self._take(line)
        end = self._end()
        if end is not None:
            self._compare(end)

    def _take(self, line: str) -> None:
        model = self._model
        if line == _CHECK:
            if model.stop is not None and not model.was_killed:
                self._views.check(model.stop, self._is_fresh)
            return
        if line.startswith("!kill"):
            self._kill(line)
            return
        before = model.stop
        answer = self._front_end.ask(line)
        model.learn(line, answer)
        if line in ("run", "start", "restart", "kill"):
            self._views.forget()
        self._is_fresh = model.stop is not before or (
            self._is_fresh and not line.startswith(("cursor", "up", "down", "frame"))
        )
        if not answer["ok"]:
            self._refused(line, answer)

    def _refused(self, line: str, answer: Answer) -> None:
        """After an error, the session may be elsewhere only if the tool has ended."""
        state = self._front_end.ask("info program")
        if not state["ok"]:
            raise Broken("a view fails: info program", state["error"])
        shown = state["result"]["state"].partition(" ")[0]
        if shown not in ("stopped", "exited", "not"):
            raise Broken("an error leaves the tool running", f"{line}: {state}")
        if shown == "exited" and self._model.state == "stopped":
            if not self._model.was_killed:
                raise Broken("an error ended the tool", f"{line}: {answer['error']}")
            self._model.stop = {"when": "exit", "status": -9, "killed": True, "event": 0}

    def _kill(self, line: str) -> None:
        """Kill the tool, or the newest checkpoint, from outside."""
        if line == "!killtool":
            program = self._front_end.ask("info program")["result"]
            pid = program.get("pid") if program["state"] == "stopped" else None
            if pid is not None:
                self._model.forget()
        else:
            listed = self._front_end.ask("info checkpoints")["result"]["checkpoints"]
            pid = listed[-1]["pid"] if listed else None
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)

    def _end(self) -> Stop | None:
        """Go to the end; None if somebody killed the tool."""
        model, ask = self._model, self._front_end.ask
        if model.stop is None:
            model.learn("run", ask("run"))
        if model.lost_output:  # that of a run that goes on without time travel stays so
            model.learn("restart", ask("rs"))
            if model.lost_output:
                return None
        for _ in range(_MOST_ENDS):
            if model.stop is None or model.stop["when"] == "exit":
                break
            ask("delete all")
            answer = ask("continue")
            if not answer["ok"]:
                if model.was_killed:
                    return None
                raise Broken("the way to the end is refused", answer["error"])
            model.learn("continue", answer)
        stop = model.stop
        if stop is None or stop["when"] != "exit":
            raise Broken("the end is not reached", str(stop))
        return None if stop.get("killed") or model.was_killed else stop

    def _compare(self, end: Stop) -> None:
        folder, case = self._front_end.folder, self._case
        skips, edits = folder / "my.skips", folder / "my.edits"
        for what, file in (("skips", skips), ("edits", edits)):
            if what == "edits" and not self._front_end.ask("info edits").get("result"):
                continue  # none, or the agent cannot edit
            saved = self._front_end.ask(f"save {what} {file.name}")
            if not saved["ok"]:
                raise Broken(f"save {what} fails", saved["error"])
        self._cold.mkdir()
        wanted = cold_run(case, self._cold, skips, edits)
        out = folder / OUT
        warm = Written(end["status"], out.read_text() if out.exists() else None)
        if case.output == "shared":
            said = self._front_end.said()
            text = wanted.output or ""
            warm = Written(end["status"], wanted.output if _is_said(text, said) else said)
        if warm.status != wanted.status:
            raise Broken("another status", f"{end['message']} but {wanted.status} cold")
        if warm.status == 0 or case.output == "file":
            _same("output", warm.output, wanted.output)


def _is_said(wanted: str, said: str) -> bool:
    """Return whether a text was shown, of which a branch repeats the end only."""
    low, high = 0, len(wanted)
    while low < high:  # the length of its longest beginning that was shown
        middle = (low + high + 1) // 2
        low, high = (middle, high) if wanted[:middle] in said else (low, middle - 1)
    return wanted[low:] in said[said.find(wanted[:low]) + low :]


def _same(what: str, ours: str | None, wanted: str | None) -> None:
    if ours == wanted:
        return
    if ours is None or wanted is None:
        raise Broken(f"another {what}", f"{_size(ours)} instead of {_size(wanted)}")
    cold, warm = wanted.splitlines(), ours.splitlines()
    shown = list(difflib.unified_diff(cold, warm, "cold", "walk", lineterm="", n=1))
    raise Broken(f"another {what}", "\n".join(["", *shown[:_SHOWN_LINES]]))


def _size(text: str | None) -> str:
    return "no file" if text is None else f"{len(text)} characters"


def _shrunk(case: Case, lines: list[str], broken: Broken) -> list[str]:
    """Return as few of the steps as fail alike, within a limit of time."""
    until = time.monotonic() + _SHRINK_SECONDS
    size = max(1, len(lines) // 2)
    while size and time.monotonic() < until:
        at = 0
        while at < len(lines) and time.monotonic() < until:
            fewer = lines[:at] + lines[at + size :]
            found = replay(case, fewer) if fewer else None
            if found is not None and found.kind == broken.kind:
                lines = fewer
            else:
                at += size
        size //= 2
    return lines
