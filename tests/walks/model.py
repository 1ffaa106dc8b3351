"""The model of a session: it chooses the next command line, and follows what the answers state."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, cast

from tests.walks.case import OUT, Case
from tests.walks.front_end import Answer

Stop = dict[str, Any]
Choice = Callable[[], str]

_SPECS = ("tag:fold", "tag:pass-execution", "tag:apply-pattern", "op:arith.*", "pass:cse")
_PATTERNS = ("AddIAddConstant", "Fold*", "*Op*")
_CURSOR = (
    *("cursor-parent", "cursor-child 0", "cursor-next", "cursor-previous", "cursor-function"),
    *("cursor-module", "cursor-defs", "cursor-users", "cursor-goto @{id}", "up", "down", "frame 1"),
    *("print", "print module", "print function --skip-regions", "around 5", "count op:arith.*"),
)
_QUESTIONS = (
    *("why-not {pattern}", "history", "history @{id}", "info cycles", "diff", "diff #{action}"),
    *("diff #{action} --module", "info pipeline", "info passes", "info patterns", "info folds"),
    *("info actions --changed", "track", "track @{id}", "track-back", "track-back @{id}"),
    *("related", "explain", "info changes", "info outcome", "info timeline", "info checkpoints"),
    *("info applicable --patterns", "info edits", "info tool", "context", "info breakpoints"),
)
_FILE_COMMANDS = ("!mv", "!rm", "!cp")
_REPLACING = ("rs", "rn", "rf", "rc", "restart", "run", "start")
_ALTERNATIVES = (
    *("pattern:{pattern} off", "drop {pass}", "append cse", "fold:arith.* off"),
    *("insert canonicalize before {pass}", "drop {pass} and append 'canonicalize'"),
)


class Model:
    """The state of a session, as far as it decides which commands make sense.

    Args:
        case: what is debugged.
        seed: of the choices.

    Attributes:
        stop: the current stop, or the end; None before the first, and after a kill.
        was_killed: whether somebody else killed the tool.
        lost_output: whether somebody else moved the output file, and no process has replaced the
            tool since.
    """

    def __init__(self, case: Case, seed: int) -> None:
        self.stop: Stop | None = None
        self.was_killed = False
        self.lost_output = False
        self._case = case
        self._pick = random.Random(seed)
        self._actions = 10  # the largest ordinal seen
        self._checkpoints: list[int] = []
        self._breakpoints = 0
        self._patterns = list(_PATTERNS)
        self._is_large = case.name == "network"

    @property
    def state(self) -> str:
        if self.stop is None:
            return "not-running"
        return "exited" if self.stop["when"] == "exit" else "stopped"

    def learn(self, line: str, answer: Answer) -> None:
        """Follow an answer."""
        if line.startswith(_FILE_COMMANDS):
            self.lost_output = True
        if not answer["ok"] or not isinstance(answer["result"], dict):
            return
        result = cast("Stop", answer["result"])
        if line == "kill":
            self.stop = None
            self._checkpoints.clear()
        elif line == "checkpoint":
            self._checkpoints.append(result["number"])
        elif line.startswith(("break", "watch", "catch", "tbreak")):
            self._breakpoints += 1
        elif is_stop(result):
            has_moved = self.stop is None or result["event"] != self.stop["event"]
            if line.startswith(_REPLACING) and has_moved:
                self.lost_output = False
            self.stop = result
            self._actions = max(self._actions, result["ordinal"] or 0, result.get("actions") or 0)
            if result["tag"] == "apply-pattern" and result["name"] not in self._patterns:
                self._patterns.append(result["name"])
        if line in ("run", "start", "restart"):
            self._checkpoints.clear()
            self.was_killed = False

    def forget(self) -> None:
        """The tool was killed by somebody else."""
        self.was_killed = True

    def choose(self) -> str:
        """Return the next command line."""
        if self.stop is None:
            return self._pick.choice(["start", "start", "run"])
        if self._pick.random() < 0.02:
            return self._pick.choice(["kill", "restart", "run", "start"])
        if self._pick.random() < 0.01:
            return self._pick.choice(["!killtool", "!killcheckpoint"])
        if self._case.output != "shared" and self._pick.random() < 0.02:
            ways = [f"!mv {OUT} kept.mlir", f"!rm -f {OUT}"]
            # What somebody writes over an output before its end stays, as in a run without us.
            if self.state == "exited" and not self._case.writes_in_parts:
                ways.append(f"!cp in.mlir {OUT}")
            return self._pick.choice(ways)
        choices = self._stopped() if self.state == "stopped" else self._exited()
        weights, lines = zip(*choices, strict=True)
        return self._pick.choices(lines, weights)[0]()

    def _stopped(self) -> list[tuple[float, Choice]]:
        assert self.stop is not None
        count = self._count
        choices: list[tuple[float, Choice]] = [
            (8, lambda: f"step {count()}"),
            (6, lambda: f"next {count()}"),
            (3, lambda: "finish"),
            (5, lambda: f"continue {count()}"),
            (4, lambda: f"next-change {count()}"),
            (3, lambda: f"advance{self._after()} {self._spec()}"),
            (2, lambda: f"until{self._after()} {self._spec()}"),
            (3, self._break),
            (1, lambda: self._pick.choice(["watch cursor", "catch crash", "catch pass-failure"])),
            (1, lambda: f"delete {self._pick.randint(1, max(1, self._breakpoints))}"),
            (4, lambda: "checkpoint"),
            (6, lambda: self._pick.choice(_CURSOR).format(id=self._id())),
            (0.5 if self._is_large else 1.5, self._whatif),
            *self._anywhere(),
        ]
        if self.stop["when"] == "before":
            choices += [(8, lambda: "skip"), (2, lambda: "skip --step"), (5, lambda: "apply")]
        if self.stop["tag"] == "pass-execution" and self.stop["when"] in ("before", "after"):
            choices += [
                (4, lambda: "edit-ir"),
                (4, lambda: f"apply-pass {self._pick.choice(['canonicalize', 'cse'])}"),
                (2, lambda: "undo-edit"),
            ]
        return choices

    def _exited(self) -> list[tuple[float, Choice]]:
        return self._anywhere()

    def _anywhere(self) -> list[tuple[float, Choice]]:
        count = self._count
        choices: list[tuple[float, Choice]] = [
            (8, self._goto),
            (6, lambda: f"rs {count()}"),
            (4, lambda: f"rn {count()}"),
            (3, lambda: "rf"),
            (4, lambda: f"rc {count()}"),
            (2 if self._is_large else 8, self._question),
        ]
        if self._checkpoints:
            choices.append((5, lambda: f"restart {self._pick.choice(self._checkpoints)}"))
        return choices

    # --- arguments ---

    def _count(self) -> int:
        return self._pick.choice((1, 1, 1, 2, 3, 7))

    def _id(self) -> int:
        assert self.stop is not None
        return self._pick.choice([self.stop.get("id") or 1, self._pick.randint(1, 20)])

    def _action(self) -> int:
        return self._pick.randint(1, self._actions)

    def _pass(self) -> str:
        names = [name.partition("{")[0] for name in _split(self._case.program.passes)]
        return self._pick.choice(names)

    def _spec(self) -> str:
        wanted = [*_SPECS, f"pass:{self._pass()}", f"pattern:{self._pick.choice(self._patterns)}"]
        return self._pick.choice(wanted)

    def _goto(self) -> str:
        if self._pick.random() < 0.2:
            return f"goto {self._pass()}"
        return f"goto #{self._action()}{self._pick.choice(['', ' --after'])}"

    def _break(self) -> str:
        return f"break{self._after()} {self._spec()}"

    def _after(self) -> str:
        return self._pick.choice(["", "", " --after"])

    def _question(self) -> str:
        return self._pick.choice(_QUESTIONS).format(
            pattern=self._pick.choice(self._patterns), id=self._id(), action=self._action()
        )

    def _whatif(self) -> str:
        fields = {"pattern": self._pick.choice(self._patterns), "pass": self._pass()}
        return f"whatif {self._pick.choice(_ALTERNATIVES).format(**fields)}"

    def wants(self, chance: float) -> bool:
        """Whether something of this chance happens."""
        return self._pick.random() < chance


def is_stop(result: object) -> bool:
    """Whether the result of a command is a stop, or the end."""
    if not isinstance(result, dict):
        return False
    return {"when", "reason", "breakpoints", "event"} <= set(cast("Stop", result))


def _split(passes: str) -> list[str]:
    """Return the names of the passes of a pipeline, nested ones included."""
    flat = passes.replace("func.func(", "").replace(")", "")
    return [one for one in flat.split(",") if one]
