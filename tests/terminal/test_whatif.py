"""What if, typed in a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.conftest import LIBRARY
from tests.terminal.terminal import Terminal

BUILDS = LIBRARY


def test_alternatives_are_compared_and_the_session_goes_on(
    terminal: Callable[..., Terminal],
) -> None:
    shell = terminal("-ex", "start")
    shell.ready()
    table = shell.do("whatif pattern:AddIAddConstant off; drop canonicalize")
    assert re.search(r"^0 .* status 0 .* as it is$", table, re.MULTILINE), table
    assert re.search(r"^2 .* drop canonicalize$", table, re.MULTILINE), table
    assert "Operations of 1: arith.addi +" in table
    assert re.search(r"^\+ .*arith\.addi", shell.do("whatif diff 1"), re.MULTILINE)
    assert "did you mean pass:canonicalize?" in shell.do("whatif drop canonicalise")
    assert "The tool ended with status 0" in shell.do("continue")


def test_tab_completes_alternatives(terminal: Callable[..., Terminal]) -> None:
    shell = terminal("-ex", "start")
    shell.ready()
    shell.child.send("whatif dr\t")
    shell.see("op")
    shell.child.send("canon\t")
    shell.see("icalize")
    assert "drop canonicalize" in shell.do("")


def test_interrupt_ends_the_runs_and_not_the_session(terminal: Callable[..., Terminal]) -> None:
    shell = terminal("-ex", "start")
    shell.ready()
    shell.child.send("whatif --test 'sleep 60' drop canonicalize\r")
    shell.see("runs")  # the line of progress
    shell.child.sendintr()
    assert "Interrupted" in shell.ready()
    assert "Stopped before #2" in shell.do("step")


def test_what_could_change_the_ir_now(terminal: Callable[..., Terminal]) -> None:
    shell = terminal("-ex", "start")
    shell.ready()
    found = shell.do("info applicable")
    assert re.search(r"^ .* canonicalize$", found, re.MULTILINE), found
    assert re.search(r"^Of \d+ passes, \d+ would change the IR", found, re.MULTILINE), found
    assert "AddIAddConstant" in shell.do("info applicable --patterns")
