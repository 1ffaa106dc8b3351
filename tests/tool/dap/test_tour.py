"""The sessions of docs/tour.md, done by a client of the server, with the answers of the page."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Callable

import pytest

from tests.elements import some
from tests.fakes.dap_client import ServedClient
from tests.paths import ROOT
from tests.tool.dap.conftest import MLIR_OPT

_PAGE = (ROOT / "docs" / "tour.md").read_text()
_BLOCKS = [each for each in re.findall(r"^```text\n(.*?)^```$", _PAGE, re.M | re.S)]
_CONTROLS = {
    "run": "configurationDone",
    "start": "configurationDone",
    "step": "stepIn",
    "continue": "continue",
    "finish": "stepOut",
}


class Tour:
    """A session of the page, in a client.

    Args:
        client: the client.
    """

    def __init__(self, client: ServedClient) -> None:
        self._client = client
        self.names: list[str] = []
        self.watches: list[str] = []

    def check(self, line: str, expected: list[str]) -> None:
        """Do what a command line does, and compare the answer with the page."""
        command, _, text = line.partition(" ")
        if command in _CONTROLS:
            self._resume(_CONTROLS[command], expected)
            return
        check: Callable[[str, list[str]], None] | None
        check = getattr(self, f"_check_{command.replace('-', '_')}", None)
        if check is not None:
            check(text, expected)
        else:
            assert self._client.evaluate(line).splitlines() == expected

    def _resume(self, command: str, expected: list[str]) -> None:
        self._client.output["console"] = ""
        stop = self._client.resume(command)
        shown = self._client.output["console"].splitlines()
        assert [each for each in shown if not each.startswith("Threading of")] == expected
        assert " ".join(stop["description"].split()[:3]).lower() in expected[0].lower()

    def _check_break(self, text: str, expected: list[str]) -> None:
        self.names.append(text)
        found = self._client.break_at(*self.names)[-1]
        assert found["verified"]
        assert expected == [f"Breakpoint {found['id']}: {text}"]

    def _check_delete(self, text: str, expected: list[str]) -> None:
        assert (text, expected) == ("all", [])
        self.names = []
        assert self._client.break_at() == []

    def _check_watch(self, text: str, expected: list[str]) -> None:
        target = self._client.request("dataBreakpointInfo", {"name": text})["dataId"]
        self.watches.append(target)
        wanted = {"breakpoints": [{"dataId": each} for each in self.watches]}
        found = self._client.request("setDataBreakpoints", wanted)["breakpoints"][-1]
        assert expected == [f"Watch {found['id']}: {target}"]

    def _check_backtrace(self, text: str, expected: list[str]) -> None:
        for frame, line in zip(self._client.frames(), expected, strict=True):
            assert frame["name"] in line
            if place := re.search(r"fold\.mlir:(\d+):(\d+)", line):
                assert frame["source"]["path"].endswith("/fold.mlir")
                assert place.groups() == (str(frame["line"]), str(frame["column"]))

    def _check_print(self, text: str, expected: list[str]) -> None:
        assert text == "function"
        document = self._client.request("actiondbg/ir")
        lines = document["text"].splitlines()
        function = [each.removeprefix("-->").strip() for each in expected]
        assert [each.strip() for each in lines][1:-1] == function
        cursor = next(at for at, each in enumerate(expected) if each.startswith("-->"))
        assert lines[document["cursorLine"] - 1].strip() == function[cursor]

    def _check_cursor_defs(self, text: str, expected: list[str]) -> None:
        operands = self._client.variables("Operation")["operands"]
        parts = self._client.parts(operands["variablesReference"])
        defined = [part for part in parts.values() if "evaluateName" in part]
        defined = [part for part in defined if part["evaluateName"].startswith("@")]
        for name, (part, line) in enumerate(zip(defined, expected, strict=True)):
            shown = f"{name}: operation {part['evaluateName']}: {part['value']}"
            assert line.startswith(shown)

    def _check_diff(self, text: str, expected: list[str]) -> None:
        found = self._client.request("actiondbg/diff", {})
        texts = (found[each].splitlines() for each in ("before", "after"))
        unified = list(difflib.unified_diff(*texts, lineterm=""))[2:]
        assert unified[1:] == expected[3:]
        assert expected[0] == f"--- before {found['title']}"

    def _check_history(self, text: str, expected: list[str]) -> None:
        answer = self._client.request("actiondbg/history", {"operation": text})
        assert answer["text"].splitlines() == expected
        assert answer["result"]["id"] == int(text[1:])

    def _check_why_not(self, text: str, expected: list[str]) -> None:
        answer = self._client.request("actiondbg/whyNot", {"pattern": text})
        assert answer["text"].splitlines() == expected
        assert {each["line"] for each in answer["places"].values()} == {7, 8}


def test_the_page_has_sessions() -> None:
    assert len(_BLOCKS) == 2


@pytest.mark.parametrize("block", _BLOCKS)
def test_a_session_of_the_page(fold: str, client: ServedClient, block: str) -> None:
    opening, *lines = block.splitlines()
    starts = [at for at, line in enumerate(lines) if line.startswith("(actiondbg) ")]
    program = shlex.split(opening)[2:]
    is_entered = "(actiondbg) start" in lines
    shown = ["set print-stop on"]
    client.launch(MLIR_OPT, *program[1:], stopOnEntry=is_entered, initCommands=shown)
    tour = Tour(client)
    for start, end in some(zip(starts, [*starts[1:], len(lines)], strict=True)):
        tour.check(lines[start].removeprefix("(actiondbg) "), lines[start + 1 : end])
    assert client.disconnect() == 0
