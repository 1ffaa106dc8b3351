"""The place in a pattern's code that decided a past attempt, found with gdb in a replay."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from actiondbg import protocol
from actiondbg.analysis.attempts import Attempt
from actiondbg.errors import NoAnswer
from actiondbg.session.executions import Executions
from actiondbg.session.inspection.native_debugger import debug_fork
from actiondbg.session.past.replay import Place, Replay

_SCRIPT = Path(__file__).with_name("function_return.gdb")
_MARK = "actiondbg: "
_BRACES = re.compile(r"[{}\s;]*")
_SHOWN = 3  # branches

_FileLine = tuple[str, int]


class SourceLine(msgspec.Struct, kw_only=True, frozen=True):
    """A line of source; ``text`` is None if the file cannot be read."""

    file: str
    line: int
    text: str | None


class FailureReturn(msgspec.Struct, kw_only=True, frozen=True):
    """The last decisions of a pattern's function before it returned."""

    attempt: Attempt
    function: str  # of the pattern
    # That of the last conditional branch, or of the return if there is none; None without debug
    # information.
    line: SourceLine | None
    # The last conditional branches as SYMBOL+OFFSET or FILE+OFFSET, the newest first.
    branches: list[str]
    call: str | None  # the last function with a symbol that was called; None if there is none


class _Branch(msgspec.Struct, array_like=True, frozen=True):
    pc: int
    symbol: tuple[str, int] | None
    line: _FileLine | None


class _Report(msgspec.Struct, frozen=True):
    """What the script prints."""

    entry: int = 0
    returned: bool = False
    branches: list[_Branch] = msgspec.field(default_factory=list[_Branch])
    call: str | None = None
    last: _FileLine | None = None
    error: str = "it did not return within the limit"


def find_return(executions: Executions, replay: Replay, attempt: Attempt) -> FailureReturn:
    """Replay an attempt under gdb, to the return of its function; see ``Past.failure_return``."""
    with replay.fork_at(Place(attempt.ordinal)) as fork:
        run = debug_fork(fork, executions, "gdb", [f"source {_SCRIPT}"])
    report = _report(run.output or "")
    function = next((one for one in run.functions if one.address == report.entry), None)
    if function is None:
        raise NoAnswer(
            f"gdb cannot stop in {attempt.name}: the address of its function is not known."
        )
    if not report.returned:
        raise NoAnswer(f"gdb cannot follow {attempt.name} to its return: {report.error}.")
    return FailureReturn(
        attempt=attempt,
        function=function.name or function.place,
        line=_deciding_line(report),
        branches=[_place(function, branch) for branch in reversed(report.branches[-_SHOWN:])],
        call=report.call,
    )


def _report(output: str) -> _Report:
    for line in output.splitlines():
        if line.startswith(_MARK):
            return msgspec.json.decode(line.removeprefix(_MARK), type=_Report)
    return _Report()


def _place(function: protocol.NativeFunction, branch: _Branch) -> str:
    """Return SYMBOL+OFFSET of a branch, or FILE+OFFSET where functions have no symbols."""
    offset = branch.pc - function.address
    if function.name is None or branch.symbol is None:
        file, _, start = function.place.rpartition("+")
        return f"{file}+{int(start, 16) + offset:#x}"
    # The function may have jumped to another one.
    symbol, inside = branch.symbol
    return f"{function.name if inside == offset else symbol}+{inside:#x}"


def _deciding_line(report: _Report) -> SourceLine | None:
    """Return the line of the last branch that is not about the end of a block, as destructors."""
    lines = [branch.line for branch in reversed(report.branches)]
    described = [_described(line) for line in [*lines, report.last] if line is not None]
    for one in described:
        if one.text is None or not _BRACES.fullmatch(one.text):
            return one
    return described[0] if described else None


def _described(place: _FileLine) -> SourceLine:
    file, line = place
    try:
        text = Path(file).read_text(errors="replace").splitlines()[line - 1].strip()
    except (OSError, IndexError):
        text = None
    return SourceLine(file=file, line=line, text=text)
