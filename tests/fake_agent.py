"""A fake agent: it speaks the protocol over a socket, and misbehaves when told to.

As a program it stands for a tool with the agent in it; ``parse_options`` lists its options. It
dispatches the actions below. With ``--misbehave WHAT`` it does that instead of telling of the
stop ``--at N``, or of answering the method ``--misbehave-at METHOD``.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any

# Ordinal, tag, name, depth; a pass holds two patterns. Each is dispatched before those of a
# greater depth that follow.
ACTIONS = [
    (1, "pass-execution", "canonicalize", 0),
    (2, "apply-pattern", "FoldA", 1),
    (3, "apply-pattern", "FoldB", 1),
    (4, "pass-execution", "cse", 0),
    (5, "apply-pattern", "FoldA", 1),
]
HELLO = {
    "protocol": 1,
    "agent": "fake",
    "llvm": "22.1.8",
    "parent": 0,
    "assertions": True,
    "capabilities": [],
}
UNIT = {
    "kind": "operation",
    "name": "arith.addi",
    "state": "alive",
    "text": "%0 = arith.addi %a, %b",
    "location": "in.mlir:3:5",
}
ABOUT = {"op": "arith.addi", "location": "in.mlir:3:5", "function": "f"}
MODULE = '"builtin.module"() ({\n  "foo.bar"() : () -> ()\n  "foo.é"() : () -> ()\n}) : () -> ()\n'


def events() -> list[tuple[str, tuple[int, str, str, int]]]:
    """List the actions' beginnings and ends, in order."""
    result: list[tuple[str, tuple[int, str, str, int]]] = []
    running: list[tuple[int, str, str, int]] = []
    for action in ACTIONS:
        while running and running[-1][3] >= action[3]:
            result.append(("after", running.pop()))
        result.append(("before", action))
        running.append(action)
    return result + [("after", action) for action in reversed(running)]


class FakeAgent:
    """The agent's end of a socket."""

    def __init__(self, connection: socket.socket, options: argparse.Namespace) -> None:
        self._socket = connection
        self._file = connection.makefile("rb")
        self._options = options
        self._events = events()
        self._at = -1
        self._stops = 0
        self._breakpoints: list[dict[str, Any]] = []
        self._hits: dict[int, int] = {}

    def serve(self) -> None:
        """Say hello, and answer until the actions are over."""
        hello = {**HELLO, "pid": os.getpid(), "protocol": self._options.version}
        if self._options.first == "exited":
            self.tell("exited", {"actions": 0})
        self.tell("hello", hello)
        while self._at < len(self._events):
            line = self._file.readline()
            if not line:
                os._exit(9)
            self._answer(json.loads(line))
        self.tell("exited", {"actions": len(ACTIONS), "hits": self._hit_list()})

    def tell(self, method: str, params: dict[str, Any]) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        self._socket.sendall(json.dumps(message, sort_keys=True).encode() + b"\n")

    def _answer(self, request: dict[str, Any]) -> None:
        method, params = request["method"], request["params"]
        if method == "interrupt":
            return  # the tool is stopped already
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        if method == self._options.refuse:
            reply["error"] = {"code": -32004, "message": "refused by the fake"}
        elif method == "resume" and params["control"] == "finish" and not self._depth():
            reply["error"] = {"code": -32004, "message": "there is no action around this one"}
        elif method == self._options.misbehave_at:
            self._misbehave(reply)
        else:
            reply["result"] = self._result(method, params)
        self._send(reply)
        if method == "resume" and "result" in reply:
            self._resume(params)

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "breakpoints/set":
            self._breakpoints = params["breakpoints"]
        elif method == "breakpoints/hits":
            return {"hits": self._hit_list()}
        elif method == "context":
            return {"units": [UNIT]}
        elif method == "cursor/get":
            return {"unit": UNIT, "function": "f", "path": [0, 0, 1]}
        elif method == "names":
            return {"names": [f"{params['kind']}-name"]}
        elif method == "print":
            return self._print(params)
        elif method == "frame/select":
            return {**self._frame(), "index": params["index"]}
        return {}

    def _print(self, params: dict[str, Any]) -> dict[str, Any]:
        with open(params["path"], "w", encoding="utf-8") as file:
            file.write(MODULE)
        marks = {"markFirst": 2, "markLast": 2} if params["mark"] else {}
        empty = {"markFirst": None, "markLast": None}
        size = len(MODULE.encode())
        return {**empty, **marks, "bytes": size, "generic": True, "path": [0, 0, 1]}

    def _hit_list(self) -> list[dict[str, int]]:
        return [
            {"id": one["id"], "hits": self._hits.get(one["id"], 0)} for one in self._breakpoints
        ]

    def _depth(self) -> int:
        return self._events[self._at][1][3] if self._at >= 0 else 0

    def _frame(self) -> dict[str, Any]:
        ordinal, tag, name, depth = self._events[self._at][1]
        return {"ordinal": ordinal, "tag": tag, "name": name, "depth": depth, "units": []} | ABOUT

    def _resume(self, params: dict[str, Any]) -> None:
        control, count = params["control"], params["count"]
        first = self._at < 0
        while True:
            self._at += 1
            if self._at == len(self._events):
                return
            when, action = self._events[self._at]
            if self._options.slow:
                self._wait_for_interrupt()
                return self._stop("interrupt", [])
            hit = self._hit(when, action)
            stepped = control == "step"
            count -= bool(stepped or hit)
            if (stepped or hit) and count <= 0:
                reason = "breakpoint" if hit else "start" if first else "step"
                return self._stop(reason, hit)

    def _hit(self, when: str, action: tuple[int, str, str, int]) -> list[int]:
        hit: list[int] = []
        for one in self._breakpoints:
            term = one["terms"][0]
            wanted = term.get("ordinal") == action[0] or term.get("glob") in action[1:3]
            if not (wanted and one["enabled"] and when == ("after" if one["after"] else "before")):
                continue
            self._hits[one["id"]] = self._hits.get(one["id"], 0) + 1
            if one["ignore"] > 0:
                one["ignore"] -= 1
                continue
            one["enabled"] = not one["temporary"]
            hit.append(one["id"])
        return hit

    def _wait_for_interrupt(self) -> None:
        while True:
            line = self._file.readline()
            if not line:
                os._exit(9)
            if json.loads(line)["method"] == "interrupt":
                return

    def _stop(self, reason: str, hit: list[int]) -> None:
        when, (ordinal, tag, name, depth) = self._events[self._at]
        self._stops += 1
        stopped = {"when": when, "reason": reason, "ordinal": ordinal, "tag": tag, "name": name}
        rest = {**ABOUT, "depth": depth, "breakpoints": hit, "skipped": False}
        if self._stops == self._options.at:
            self._misbehave({"jsonrpc": "2.0", "method": "stopped", "params": {**stopped, **rest}})
        self.tell("stopped", {**stopped, **rest})

    def _misbehave(self, message: dict[str, Any]) -> None:
        line = json.dumps(message).encode()
        what = self._options.misbehave
        if what in WRONG:
            self._socket.sendall(WRONG[what](line))
            time.sleep(60)
        elif what == "truncated":
            self._socket.sendall(line[:30])
            sys.exit(0)
        elif what == "close":  # and live on
            self._file.close()
            self._socket.close()
            time.sleep(60)
        elif what in ("SIGKILL", "SIGABRT", "SIGTERM"):
            if what == "SIGABRT":
                ordinal, tag, name, depth = self._events[self._at][1]
                crash = {"ordinal": ordinal, "tag": tag, "name": name, "depth": depth}
                self.tell("crashed", {**crash, "op": "arith.addi"})
            os.kill(os.getpid(), getattr(signal, what))
            time.sleep(60)


WRONG = {
    "garbage": lambda _: b"\x00\xff garbage, no JSON " + b"x" * 200 + b"\n",
    "oversized": lambda _: b"x" * ((16 << 20) + 10),
    "unknown-method": lambda line: line.replace(b'"stopped"', b'"paused"') + b"\n",
    "unknown-field": lambda line: line.replace(b'"when"', b'"whence": 1, "when"') + b"\n",
    "wrong-type": lambda line: line.replace(b'"tag": "', b'"tag": 7, "x": "') + b"\n",
    "no-message": lambda _: b'{"jsonrpc": "2.0"}\n',
    "not-awaited": lambda _: b'{"jsonrpc": "2.0", "id": 777, "result": {}}\n',
    "second-hello": lambda _: (
        json.dumps({"jsonrpc": "2.0", "method": "hello", "params": {**HELLO, "pid": 1}}).encode()
        + b"\n"
    ),
}


def parse_options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--exit", type=int, default=0)
    parser.add_argument("--no-context", action="store_true")
    parser.add_argument("--misbehave")
    parser.add_argument("--misbehave-at", help="the method that is answered so")
    parser.add_argument("--at", type=int, default=0)
    parser.add_argument("--refuse")
    parser.add_argument("--version", type=int, default=1)
    parser.add_argument("--first", default="hello")
    parser.add_argument("--print", default="")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--read-stdin", action="store_true")
    parser.add_argument("--child", action="store_true")
    parser.add_argument("--show-environment", action="store_true")
    return parser.parse_args(arguments)


def main() -> None:
    options = parse_options(sys.argv[1:])
    sys.stdout.write(options.print)
    if options.show_environment:
        sys.stdout.write(os.environ.get("ACTIONDBG_PRELOAD", "none"))
    if options.read_stdin:
        sys.stdout.write(sys.stdin.read())
    sys.stdout.flush()
    if options.child:  # which holds the socket no longer than it must, and outlives its parent
        subprocess.Popen(["sleep", "60"])
    if not options.no_context:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(os.environ["ACTIONDBG_SOCKET"])
        FakeAgent(connection, options).serve()
        connection.close()
    sys.stderr.write("the fake's last words\n")
    sys.exit(options.exit)


if __name__ == "__main__":
    main()
