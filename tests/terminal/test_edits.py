"""IR edited in an editor, at a terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.conftest import LIBRARY
from tests.terminal.terminal import Terminal

BUILDS = LIBRARY


def editor(path: Path, *lines: str) -> str:
    """Write an editor, a script whose argument is the file; return its command."""
    path.write_text("\n".join(["#!/bin/sh", "set -e", *lines]) + "\n")
    path.chmod(0o755)
    return str(path)


def test_edit_goes_on_with_what_was_saved(
    terminal: Callable[..., Terminal], tmp_path: Path
) -> None:
    visual = editor(tmp_path / "ed", "sed -i 's/constant 3/constant 33/' $1")
    shell = terminal("-ex", "start", VISUAL=visual, EDITOR="false")
    shell.ready()
    answer = shell.do("edit-ir")
    assert "+    %c33_i32 = arith.constant 33 : i32" in answer.replace("%c3_i32", "%c33_i32")
    assert "Branch 2 begins with this edit of module before #1 canonicalize." in answer
    assert "arith.constant 37 : i32" in shell.do("continue")


def test_error_opens_the_editor_again(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    visual = editor(
        tmp_path / "ed",
        f"cp $1 {tmp_path}/round-$(ls {tmp_path} | grep -c round)",
        "if grep -q oops $1; then sed -i 's/oops/33/' $1",
        "else sed -i 's/constant 3 /constant oops /' $1; fi",
    )
    shell = terminal("-ex", "start", VISUAL=visual)
    shell.ready()
    answer = shell.do("edit-ir module")
    assert "Branch 2 begins with this edit of module" in answer
    first, second = ((tmp_path / f"round-{number}").read_text().splitlines() for number in range(2))
    assert first[0] == "// module before #1 canonicalize"
    number = next(at for at, line in enumerate(second, 1) if "constant oops" in line)
    assert second[0].startswith(f"// error: Line {number}, column ")
    assert len(first) == len(second)


def test_giving_up_after_an_error(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    visual = editor(
        tmp_path / "ed", "if ! grep -q oops $1; then sed -i 's/constant 3 /constant oops /' $1; fi"
    )
    shell = terminal("-ex", "start", VISUAL=visual)
    shell.ready()
    answer = shell.do("edit-ir module")
    assert "expected attribute value" in answer
    assert "Nothing was changed." in answer
    assert "There are no edits" in shell.do("info edits")


def test_editor_that_fails(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    shell = terminal("-ex", "start", VISUAL=str(tmp_path / "missing"))
    shell.ready()
    assert "cannot be started" in shell.do("edit-ir")
    shell = terminal("-ex", "start", VISUAL="", EDITOR="false")
    shell.ready()
    assert "The editor 'false' ended with status 1: nothing was changed." in shell.do("edit-ir")
