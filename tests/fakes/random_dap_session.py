"""Random sessions with a server: requests out of order, malformed, twice and cancelled, and clients
that vanish. ``python -m tests.fakes.random_dap_session --count 200 --seed 1`` runs many.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import cast

from actiondbg.commands.dap.requests import HANDLERS
from tests.fakes import stock_tool as stock
from tests.fakes.dap_client import Message, Refused, ServedClient
from tests.processes import descendants, is_alive, wait_until

_STEPS = 25
_MALFORMED = [
    b"",
    b"{",
    b"[1, 2]",
    b'{"seq": "one", "type": "request", "command": "next"}',
    b'{"seq": 1, "type": "request"}',
    b'{"seq": 1, "type": "question", "command": "next"}',
    b'{"seq": 1, "type": "response", "request_seq": 77, "success": true, "command": "x"}',
    b"\xff\xfe\x00",
]
_BROKEN = [
    b"Content-Length: many\r\n\r\n{}",
    b"Content-Length: 99999999999\r\n\r\n{}",
    b"no header at all\r\n\r\n",
    b"\r\n\r\n\r\n",
    b"Content-Length: 500\r\n\r\n{",
]
_SPECS = ["pattern:AddI*", "fold:arith.*", "pass:*", "nosuch", "a : b", "", "tag:* if hits > 3"]
_EXPRESSIONS = [
    *("step", "bt", "%twice", "@5", "info patterns", "print function", "cursor-goto @4", "quit"),
    *(
        "watch @4",
        "next 3",
        "shell touch x",
        "kill",
        "run",
        "no such command",
        "commands\nstep\nend",
    ),
]


class RandomSession:
    """A session whose requests follow from a seed.

    Args:
        seed: of the choices.
        folder: an empty folder, for the input and what must not be left.
        tool: an mlir-opt.
    """

    def __init__(self, seed: int, folder: Path, tool: str) -> None:
        self._random = random.Random(seed)
        self._folder = folder
        self._argv = [tool, "in.mlir", self._random.choice(["--canonicalize", stock.PASSES])]
        (folder / "in.mlir").write_text(stock.MIXED)
        self._temporary = folder / "tmp"
        self._temporary.mkdir()
        self.sent: list[str] = []
        self._is_changed = False  # whether the output may be another one

    def run(self) -> None:
        """Run the session; raise AssertionError if it hangs, or leaves anything."""
        environment = {"TMPDIR": str(self._temporary)}
        client = ServedClient(self._folder, environment)
        processes: list[int] = []
        try:
            self._begin(client)
            for _ in range(self._random.randrange(_STEPS)):
                self._random.choice(self._choices())(client)
            processes = descendants(client.server.pid)
            self._end(client)
            self._check_output(client)
        finally:
            client.kill()
        wait_until(lambda: not any(map(is_alive, processes)))
        left = [
            each.name for each in self._temporary.iterdir() if each.name.startswith("actiondbg")
        ]
        assert not left, left
        assert not (self._folder / "x").exists(), "a refused command ran"

    # --- what a client does -------------------------------------------------------

    def _begin(self, client: ServedClient) -> None:
        steps: list[Callable[[], object]] = [
            lambda: self._send(client, "initialize", {"adapterID": "x"}),
            lambda: self._send(client, "launch", self._configuration()),
            lambda: self._send(client, "setFunctionBreakpoints", self._breakpoints()),
            lambda: self._send(client, "configurationDone", {}),
        ]
        if self._random.random() < 0.2:
            self._random.shuffle(steps)
        for step in steps:
            if self._random.random() < 0.95:
                step()

    def _configuration(self) -> Message:
        return {
            "tool": self._argv[0],
            "args": self._argv[1:],
            "stopOnEntry": self._random.random() < 0.7,
            "stopAtEnd": self._random.random() < 0.5,
        }

    def _breakpoints(self) -> Message:
        names = self._random.sample(_SPECS, self._random.randrange(3))
        return {"breakpoints": [{"name": name} for name in names]}

    def _choices(self) -> list[Callable[[ServedClient], None]]:
        return [
            *[self._control] * 6,
            *[self._look] * 4,
            *[self._any_request] * 3,
            self._evaluate,
            self._malformed,
            self._twice,
            self._cancelled,
            *[self._wait] * 8,
        ]

    def _control(self, client: ServedClient) -> None:
        names = ["next", "stepIn", "stepOut", "continue", "stepBack", "reverseContinue", "pause"]
        names += ["actiondbg/reverseNext", "actiondbg/nextChange", "actiondbg/skip", "restart"]
        self._send(client, self._random.choice(names), {"threadId": 1})

    def _look(self, client: ServedClient) -> None:
        number = self._random.randrange(40)
        looks: list[tuple[str, Message]] = [
            ("stackTrace", {"threadId": 1}),
            ("scopes", {"frameId": number}),
            ("variables", {"variablesReference": number}),
            ("actiondbg/ir", {}),
            ("source", {"sourceReference": number}),
            ("exceptionInfo", {"threadId": 1}),
            ("actiondbg/pipeline", {}),
            ("actiondbg/history", {"operation": "@5"}),
            ("actiondbg/whyNot", {"pattern": "AddI*"}),
        ]
        self._send(client, *self._random.choice(looks))

    def _any_request(self, client: ServedClient) -> None:
        name = self._random.choice(sorted(HANDLERS.keys() - {"disconnect", "actiondbg/bisect"}))
        values: list[object] = [None, -1, 10**12, "x", [], {}, True, [{"name": "x"}]]
        keys = ["threadId", "frameId", "count", "place", "spec", "breakpoints", "source", "name"]
        arguments = {each: self._random.choice(values) for each in self._random.sample(keys, 4)}
        self._send(client, name, self._random.choice([arguments, {}, None, "x", 7]))

    def _evaluate(self, client: ServedClient) -> None:
        expression = self._random.choice(_EXPRESSIONS)
        self._is_changed |= expression in ("kill", "run")
        context = self._random.choice(["repl", "watch", "hover", None])
        self._send(client, "evaluate", {"expression": expression, "context": context})

    def _malformed(self, client: ServedClient) -> None:
        self.sent.append("malformed")
        client.send_raw(self._random.choice(_MALFORMED))

    def _twice(self, client: ServedClient) -> None:
        for _ in range(2):
            self._send(client, "configurationDone", {})

    def _cancelled(self, client: ServedClient) -> None:
        number = self._send(client, "actiondbg/pipeline", {})
        self._send(client, "cancel", {"requestId": number})

    def _wait(self, client: ServedClient) -> None:
        """Wait for the responses to all requests so far."""
        with contextlib.suppress(Refused):
            client.request("actiondbg/timeline", {})

    def _send(self, client: ServedClient, name: str, arguments: object) -> int:
        self.sent.append(f"{name} {arguments}")
        changing = ("actiondbg/skip", "restart", "launch", "terminate", "actiondbg/apply")
        self._is_changed |= name in changing and not self.sent[-1].startswith("launch {'tool'")
        return client.send(name, arguments)

    # --- the end ------------------------------------------------------------------

    def _end(self, client: ServedClient) -> None:
        how = self._random.choice(
            ["disconnect", "disconnect", "finish", "vanish", "broken", "kill"]
        )
        if self._random.random() < 0.7:
            self._wait(client)
        self.sent.append(how)
        if how == "kill":  # of the server, by a user: the tool must not outlive it
            client.server.terminate()
            client.server.wait(60)
            return
        if how == "finish":
            self._finish(client)
        if how in ("disconnect", "finish"):
            client.send("disconnect", {})
        if how == "broken":
            client.writer.write(self._random.choice(_BROKEN))
            client.writer.flush()
        if how in ("broken", "vanish"):
            client.writer.close()
        client.end()
        assert client.server.wait(60) == 0

    def _finish(self, client: ServedClient) -> None:
        """Delete all breakpoints, and run to the end."""
        for name in ("Function", "Exception", "Data"):
            arguments: Message = {"breakpoints": [], "filters": []}
            with contextlib.suppress(Refused):
                client.request(f"set{name}Breakpoints", arguments)
        with contextlib.suppress(Refused):
            client.request("evaluate", {"expression": "delete all", "context": "repl"})
        with contextlib.suppress(Refused):
            ends = ("exited", "terminated")
            before = [each for each in client.events if each["event"] in ends]
            client.request("continue", {})
            if not before:
                client.event_of(*ends)

    def _check_output(self, client: ServedClient) -> None:
        has_ended = any(each["event"] == "exited" for each in client.events)
        if not has_ended or self._is_changed:
            return
        plain = subprocess.run(self._argv, cwd=self._folder, capture_output=True, text=True)
        assert client.output["stdout"] == plain.stdout, self.sent
        assert client.output["stderr"] == plain.stderr, self.sent


def main() -> None:
    """Run random sessions."""
    from tests.conftest import PYPI

    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for seed in range(options.seed, options.seed + cast("int", options.count)):
        with tempfile.TemporaryDirectory() as folder:
            session = RandomSession(seed, Path(folder), str(PYPI / "mlir-opt"))
            try:
                session.run()
            except BaseException:
                print(f"seed {seed}:", *session.sent, sep="\n  ", flush=True)
                raise
        if seed % 10 == 0:
            print(f"{seed} of {options.seed + options.count - 1}", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("CI", "1")
    main()
    sys.exit(0)
