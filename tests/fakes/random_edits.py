"""Random edits of IR at random stops, and what becomes of the tool."""

from __future__ import annotations

import random
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import actiondbg
from actiondbg import errors
from actiondbg.session.edits.edits import EditableText

Kind = Literal["rename", "constant", "removal", "function"]
Fate = Literal["ended", "failed", "crashed", "refused", "no place"]
KINDS: tuple[Kind, ...] = ("rename", "constant", "removal", "function")

_SYMBOL = re.compile(r"\bfunc\.func (?:private |public )?@([\w$.]+)\(")
_NUMBER = re.compile(r"(?<=constant )-?\d+(?:\.\d+(?:e[+-]?\d+)?)?\b")
_FUNCTION = re.compile(r"^( *)(?:func|llvm)\.func .*?^\1\}\n", re.MULTILINE | re.DOTALL)
_OPERATION = re.compile(r'^\s*(?:%[\w:, %#]+ = )?"?[a-z_]+\.[\w.]+')
_TRIES = 30


@dataclass
class RandomEdit:
    """An edit that was tried.

    Attributes:
        kind: what was changed.
        place: the stop, such as "before #3 cse".
        fate: how the run ended after it; "refused" if the tool did not accept it.
        message: the end of the run, or why the edit was refused.
        module: the text of the module after the edit; empty if there was none.
        is_true: whether the IR at the stop is what the edited text says.
    """

    kind: Kind
    place: str
    fate: Fate
    message: str
    module: str = ""
    is_true: bool = True


def edit_randomly(argv: list[str], kind: Kind, chance: random.Random) -> RandomEdit:
    """Run a tool, edit the IR at a random stop before or after a pass, and run it to its end."""
    with actiondbg.launch(argv, stderr="/dev/null") as session:
        if session.start().when == "exit":
            return RandomEdit(kind, "", "no place", "")
        original = _text(session, "module")
        for _ in range(_TRIES):
            if _go_to_a_pass(session, chance):
                break
        else:
            return RandomEdit(kind, "", "no place", "")
        stop = session.stop
        assert stop is not None
        place = f"{stop.when} #{stop.ordinal} {stop.name}"
        message = "there is nothing of this kind to edit"
        for _ in range(_TRIES):
            editable = _editable(session)
            text = None if editable is None else _change(editable.text, kind, original, chance)
            if editable is None or text is None:
                break
            try:
                if session.edits.apply_text(editable, text) is None:
                    continue
            except errors.EditRefused as refused:
                message = str(refused)
                if "crashed" in message:
                    return RandomEdit(kind, place, "crashed", message, text)
                continue
            return _end(session, kind, place, editable, text, argv[0])
        return RandomEdit(kind, place, "refused", message)


def crashes(tool: str, arguments: list[str], module: str, directory: Path) -> bool:
    """Return whether the tool alone crashes on a module given from the start."""
    file = directory / "edited.mlir"
    file.write_text(module)
    run = subprocess.run([tool, str(file), *arguments], capture_output=True, check=False)
    return run.returncode < 0 or b"PLEASE submit a bug report" in run.stderr


def _go_to_a_pass(session: actiondbg.Session, chance: random.Random) -> bool:
    passes = session.past.passes()
    if not passes:
        return False
    chosen = chance.choice(passes)
    try:
        session.timeline.goto(chosen.ordinal, chance.choice(("before", "after")))
        return _editable(session) is not None
    except (errors.UsageError, errors.ToolGone):
        return False


def _editable(session: actiondbg.Session) -> EditableText | None:
    what = "module" if session.cursor.get().function is None else "function"
    try:
        return session.edits.text(what)
    except errors.EditRefused:
        return None


def _text(session: actiondbg.Session, what: Literal["function", "module"]) -> str:
    with session.ir.print(what, printer_names=True) as printed:
        return printed.text


def _change(text: str, kind: Kind, original: str, chance: random.Random) -> str | None:
    """Return a text with a random change of a kind; None if there is nothing to change."""
    match kind:
        case "rename":
            names = _SYMBOL.findall(text)
            if not names:
                return None
            name = chance.choice(names)
            return re.sub(rf"@{re.escape(name)}\b", f"@{name}_edited", text)
        case "constant":
            numbers = list(_NUMBER.finditer(text))
            if not numbers:
                return None
            one = chance.choice(numbers)
            other = str(chance.randint(0, 9)) + (".5" if "." in one[0] else "")
            return text[: one.start()] + other + text[one.end() :]
        case "removal":
            lines = text.splitlines(keepends=True)
            places = [
                at
                for at, line in enumerate(lines)
                if at and _OPERATION.match(line) and not line.rstrip().endswith("{")
            ]
            if not places:
                return None
            return _without_line(lines, chance.choice(places))
        case "function":
            return _with_other_function(text, original, chance)


def _without_line(lines: list[str], at: int) -> str:
    """Remove an operation; its first operand takes the place of its result."""
    found = re.match(r"\s*(%[\w$.-]+) = [^%]*(%[\w$.-]+)", lines[at])
    rest = "".join(lines[at + 1 :])
    if found is not None:
        rest = re.sub(rf"{re.escape(found[1])}(?![\w$.-])", found[2], rest)
    return "".join(lines[:at]) + rest


def _with_other_function(text: str, original: str, chance: random.Random) -> str | None:
    """Replace a function by the one at the beginning of the run, or by another of the module."""
    here, others = list(_FUNCTION.finditer(text)), list(_FUNCTION.finditer(original))
    if not here or not others:
        return None
    old, new = chance.choice(here), chance.choice(others)
    names = [re.search(r"@([\w$.]+)", each[0]) for each in (old, new)]
    if names[0] is None or names[1] is None:
        return None
    body = new[0].replace(f"@{names[1][1]}(", f"@{names[0][1]}(", 1)
    return text[: old.start()] + body + text[old.end() :]


def _end(
    session: actiondbg.Session, kind: Kind, place: str, editable: EditableText, text: str, tool: str
) -> RandomEdit:
    """Run to the end after an edit."""
    is_true = _is_what_was_written(session, editable, text, tool)
    module = _text(session, "module")
    session.options.stop_on_crash = False
    stop = session.continue_()
    fate: Fate = "ended" if stop.status == 0 else "failed"
    if stop.reason in ("crashed", "killed"):
        fate = "crashed"
    return RandomEdit(kind, place, fate, stop.message or "", module, is_true)


def _is_what_was_written(
    session: actiondbg.Session, editable: EditableText, text: str, tool: str
) -> bool:
    """Return whether the tool alone prints the edited text as the session prints the IR."""
    what = "module" if editable.target == "module" else "function"
    written = _printed_alone(tool, text)
    return written is None or written == _printed_alone(tool, _text(session, what))


def _printed_alone(tool: str, text: str) -> str | None:
    """Return a text as the tool alone prints it; None if it refuses it."""
    flags = [
        *("--allow-unregistered-dialect", "--mlir-very-unsafe-disable-verifier-on-parsing"),
        *("--no-implicit-module", "-"),
    ]
    run = subprocess.run([tool, *flags], input=text, capture_output=True, text=True, check=False)
    return None if run.returncode else run.stdout
