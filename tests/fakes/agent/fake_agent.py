"""A fake agent: it speaks the protocol over a socket, and misbehaves when told to.

As a program it stands for a tool with the agent in it; ``parse_options`` lists its options. It
dispatches the actions of fake_stream. With ``--misbehave WHAT`` it does that instead of telling of
the stop ``--at N``, or of answering the method ``--misbehave-at METHOD``.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from fake_answers import Refusal
from fake_forks import ForkAnswers
from fake_stream import (
    ABOUT,
    ACTIONS,
    CAPABILITIES,
    CHANGERS,
    CHANGES,
    HELLO,
    REASONS,
    RESULTS,
    WATCHED,
    Action,
    nth_of,
    outcome_matches,
)


class FakeAgent(ForkAnswers):
    """The agent's end of a socket."""

    def __init__(self, connection: socket.socket, options: argparse.Namespace) -> None:
        super().__init__(options)
        self._socket = connection
        self._file = connection.makefile("rb")
        self._stops = 0

    def serve(self) -> None:
        """Say hello, and answer until the actions are over."""
        lacking = {"fork", "ordinals-stable"} if self._options.no_fork else set[str]()
        capabilities = [name for name in CAPABILITIES if name not in lacking]
        hello = {**HELLO, "capabilities": capabilities, "role": self._role, **self.place()}
        end = {"status": self._options.exit, "written": self._written()}
        if self._options.first == "exited":
            self.notify("exited", {"actions": 0, **end})
        self.notify("hello", {**hello, "pid": os.getpid(), "protocol": self._options.version})
        while self._at < len(self._events):
            self._answer(json.loads(self._line()))
        end |= {"event": len(self._events), "hits": self._hit_list()}
        self.notify("exited", {"actions": len(ACTIONS), **end})

    def _line(self) -> bytes:
        return self._file.readline() or os._exit(9)

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        self._socket.sendall(json.dumps(message, sort_keys=True).encode() + b"\n")

    def _answer(self, request: dict[str, Any]) -> None:
        method, params = request["method"], request["params"]
        if method == "interrupt":
            return  # the tool is stopped already
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        if method == self._options.misbehave_at:
            self._misbehave(reply)
        else:
            try:
                reply["result"] = self._result(method, params)
            except Refusal as refusal:
                reply["error"] = {"code": refusal.args[0], "message": refusal.args[1]}
        self._send(reply)
        if method == "resume" and "result" in reply:
            self._resume(params)

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == self._options.refuse:
            raise Refusal(-32004, "refused by the fake")
        if method == "resume":
            return self._check_resume(params)
        answer = getattr(self, "_" + method.replace("/", "_"), None)
        return answer(params) if answer else {}

    def _check_resume(self, params: dict[str, Any]) -> dict[str, Any]:
        control, event = params["control"], params["event"]
        if event is not None and event <= self._at + 1:
            raise Refusal(-32602, f"the event {event} has passed")
        if control == "finish" and not self._depth():
            raise Refusal(-32004, "there is no action around this one")
        ordinal = self._events[self._at][1][0] if self._at >= 0 else 0
        if control == "skip":
            self._skips.append(ordinal)
        if control == "apply" and ordinal in self._to_skip:
            self._to_skip.remove(ordinal)
        return {}

    # --- the stream of actions ---

    def _depth(self) -> int:
        return self._events[self._at][1][3] if self._at >= 0 else 0

    def _resume(self, params: dict[str, Any]) -> None:
        control, count = params["control"], params["count"]
        first, start = self._at < 0, max(self._at, 0)
        if self._role != "tool" and self._options.slow_replica:
            self._line()
        self._passed = []
        while True:
            if self._at >= 0 and self._events[self._at] == ("before", self._crashing()):
                self._crash()
            self._take_checkpoint()
            self._at += 1
            if self._at == len(self._events):
                return
            when, action = self._events[self._at]
            if self._options.slow and self._role == "tool":
                return self._wait_for_interrupt()
            hit = self._hit(when, action)
            if params["event"] is not None:
                if self._at + 1 == params["event"]:
                    return self._stop("breakpoint" if hit else "until", hit)
                self._pass(hit, params["keep"])
                continue
            stepped = control == "step" or self._reaches(control, start, params["until"])
            count -= bool(stepped or hit)
            if (stepped or hit) and count <= 0:
                reason = "until" if params["until"] else "start" if first else "step"
                return self._stop("breakpoint" if hit else reason, hit)

    def _pass(self, hit: list[int], keep: int) -> None:
        """Remember a hit that is no stop."""
        if hit and keep:
            self._passed = [*self._passed, {"event": self._at + 1, "during": 0}][-keep:]

    def _crashing(self) -> Action | None:
        ordinal: int = self._options.crash_in
        return ACTIONS[ordinal - 1] if ordinal else None

    def _reaches(self, control: str, start: int, until: dict[str, Any] | None) -> bool:
        """Tell whether a next, a finish or an until ends here."""
        when, action = self._events[self._at]
        if control == "next":
            return when == "after" and action == self._events[start][1]
        if control == "finish":
            return when == "after" and action[3] < self._events[start][1][3]
        wanted = "before" if until is None or not until["after"] else "after"
        if until is None or when != wanted:
            return False
        if not all(self._holds(term, action) for term in until["terms"]):
            return False
        changed = action[0] == CHANGERS[0]
        return outcome_matches(until["outcome"], self._outcome(action[0]), changed)

    def _hit(self, when: str, action: Action) -> list[int]:
        hit: list[int] = []
        for one in self._breakpoints:
            if not one["enabled"] or not self._matches(one, when, action):
                continue
            self._hits[one["id"]] = self._hits.get(one["id"], 0) + 1
            if one["ignore"] > 0:
                one["ignore"] -= 1
                continue
            if one["log"]:
                if self._log is None:
                    continue
                self._log.write(json.dumps(self._describe("breakpoint", [one["id"]])) + "\n")
                continue
            one["enabled"] = not one["temporary"]
            hit.append(one["id"])
        return hit

    def _matches(self, one: dict[str, Any], when: str, action: Action) -> bool:
        if one["catch"] is not None:
            return False
        if one["watch"] is not None:
            return when == "after" and (one["watch"]["id"], action[0]) in WATCHED
        if when != ("after" if one["after"] or one["outcome"] else "before"):
            return False
        if one["outcome"] is not None:
            changed = action[0] in CHANGERS
            if not outcome_matches(one["outcome"], self._outcome(action[0]), changed):
                return False
        return all(self._holds(term, action) for term in one["terms"])

    def _holds(self, term: dict[str, Any], action: Action) -> bool:
        if term["kind"] == "ordinal":
            return term["ordinal"] == action[0]
        if term["kind"] == "location":
            return term.get("line") == 3
        return any(fnmatch.fnmatch(word, term["glob"]) for word in action[1:3])

    def _outcome(self, ordinal: int) -> dict[str, Any]:
        result = "skipped" if ordinal in self._skips + self._to_skip else RESULTS[ordinal]
        reasons = REASONS.get(ordinal, []) if result == "failed" else []
        return {"result": result, "reasons": reasons, "how": None, "values": []}

    def _wait_for_interrupt(self) -> None:
        while True:
            message = json.loads(self._line())
            if message["method"] == "interrupt" and message["params"]["force"]:
                return self._stop("interrupt", [], "during")
            if message["method"] == "interrupt" and not self._options.stuck:
                return self._stop("interrupt", [])

    def _describe(self, reason: str, hit: list[int], during: str | None = None) -> dict[str, Any]:
        when, (ordinal, tag, name, depth) = self._events[self._at]
        stopped = {"when": during or when, "reason": reason, "ordinal": ordinal, "tag": tag}
        stopped |= {"event": self._at + 1, "nth": nth_of(ordinal)}
        is_over = when == "after" and not during
        outcome = self._outcome(ordinal) if is_over else None
        changes = CHANGES if is_over and ordinal in CHANGERS else []
        message = next(
            (
                WATCHED[one["watch"]["id"], ordinal]
                for one in self._breakpoints
                if one["watch"] and one["id"] in hit
            ),
            None,
        )
        culprit = {"ordinal": ordinal, "tag": tag, "name": name, "guess": False}
        return {
            **stopped,
            **ABOUT,
            "name": name,
            "depth": depth,
            "breakpoints": hit,
            "skipped": ordinal in self._to_skip or (is_over and ordinal in self._skips),
            "cursor": {"kind": "operation", "id": 12, "op": "arith.addi", "by": "action"},
            "outcome": outcome,
            "changes": changes,
            "changeCount": len(changes),
            "message": message,
            "culprit": culprit if message else None,
        }

    def _stop(self, reason: str, hit: list[int], during: str | None = None) -> None:
        self._stops += 1
        stopped = self._describe(reason, hit, during)
        if self._stops == self._options.at:
            self._misbehave({"jsonrpc": "2.0", "method": "stopped", "params": stopped})
        self.notify("stopped", stopped)

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
        elif what == "SIGABRT":
            self._crash()
        elif what in ("SIGKILL", "SIGTERM"):
            os.kill(os.getpid(), getattr(signal, what))
            time.sleep(60)

    def _crash(self) -> None:
        ordinal, tag, name, depth = self._events[self._at][1]
        crash = {"ordinal": ordinal, "tag": tag, "name": name, "depth": depth}
        crash |= {"signal": signal.SIGABRT, "written": self._written(), "event": self._at + 1}
        self.notify("crashed", {**crash, "op": "arith.addi"})
        os.kill(os.getpid(), signal.SIGABRT)
        time.sleep(60)


WRONG: dict[str, Callable[[bytes], bytes]] = {
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
    parser.add_argument("--version", type=int, default=HELLO["protocol"])
    parser.add_argument("--first", default="hello")
    parser.add_argument("--print", default="")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--stuck", action="store_true", help="only force interrupts it")
    parser.add_argument("--slow-replica", action="store_true", help="goes on for ever")
    parser.add_argument("--crash-in", type=int, default=0, help="the ordinal")
    parser.add_argument("--allow-unregistered-dialect", action="store_true")
    parser.add_argument("-load-pass-plugin")
    parser.add_argument("--no-fork", action="store_true")
    parser.add_argument("--fork", choices=["silent", "dies"], help="what a fork does instead")
    parser.add_argument("--invalid", action="store_true", help="FoldB makes the IR so")
    parser.add_argument("--erase", action="store_true", help="FoldB erases what is printed")
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
