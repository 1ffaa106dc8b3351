"""What the stock tool says by itself of what it does: the independent source of many tests."""

from __future__ import annotations

import contextlib
import re
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import actiondbg
from actiondbg.process.stop import Stop
from actiondbg.protocol import Change

Told = list[tuple[str, str]]  # kind and operation of each change, in order

_KINDS = {"Insert": "inserted", "Replace": "replaced", "Modified": "modified", "Erase": "erased"}
_PREFIX = "[greedy-rewriter:1] "
ANONYMOUS = r"(?:\{anonymous\}::|\(anonymous namespace\)::)?"
_PATTERN = re.compile(rf"\s+\* Pattern {ANONYMOUS}(.*) : '(\S+) ->")
_OPERATION = re.compile(r"Processing operation : '(\S+)'")
_CHANGE = re.compile(r"\s*\*\* (Insert|Replace|Modified|Erase) *: '(\S+)'")
_REASON = re.compile(r"\s*\*\* Match Failure : (.*)")
_GENERIC = re.compile(r'(?m)^\s*(?:%[^"=]* = )?"([\w$.-]+)"\(')

# The inliner runs canonicalize on the callers.
CALLS = """\
func.func private @inner(%a: i32) -> i32 {
  %c = arith.constant 1 : i32
  %0 = arith.addi %a, %c : i32
  %1 = arith.addi %0, %c : i32
  return %1 : i32
}
func.func @outer(%a: i32) -> i32 {
  %0 = func.call @inner(%a) : (i32) -> i32
  %1 = func.call @inner(%0) : (i32) -> i32
  return %1 : i32
}
"""


def run(argv: list[str], check: bool = False) -> subprocess.CompletedProcess[str]:
    """Run the tool alone."""
    return subprocess.run(argv, capture_output=True, text=True, check=check)


# A loop that is never entered, which the fold of its addition leaves as it is again and again.
SPIN = """\
func.func @spin(%stop: i1) {
  %one = arith.constant 1 : i64
  %nine = arith.constant 9 : i64
  %never = arith.cmpi ne, %nine, %nine : i64
  cf.cond_br %never, ^body(%nine : i64), ^done
^body(%at: i64):
  cf.cond_br %stop, ^done, ^more
^more:
  %next = arith.xori %at, %one : i64
  cf.br ^body(%next : i64)
^done:
  return
}
"""
# Two patterns of upstream that undo each other for ever.
CYCLE = """\
module attributes {transform.with_named_sequence} {
  func.func @f(%a: vector<4xf32>, %b: vector<4xf32>) -> vector<8xf32> {
    %0 = vector.interleave %a, %b : vector<4xf32> -> vector<8xf32>
    return %0 : vector<8xf32>
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["func.func"]} in %m
      : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %f {
      transform.apply_patterns.canonicalization
      transform.apply_patterns.vector.interleave_to_shuffle
    } : !transform.any_op
    transform.yield
  }
}
"""
MIXED = """\
func.func private @unused(%a: i32) -> i32 {
  return %a : i32
}
func.func private @id(%a: i32) -> i32 {
  return %a : i32
}
func.func @mixed(%a: i32, %b: i32) -> (i32, i1, i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %true = arith.constant true
  %x = arith.addi %a, %c0 : i32
  %k = arith.addi %c2, %c3 : i32
  %s, %o = arith.addui_extended %x, %c0 : i32, i1
  %w = arith.addi %c3, %b : i32
  %y = arith.addi %w, %c2 : i32
  %n = arith.muli %y, %k : i32
  %r = scf.if %true -> (i32) {
    %p = arith.divsi %n, %b : i32
    %q = arith.remsi %p, %a : i32
    scf.yield %q : i32
  } else {
    scf.yield %a : i32
  }
  %i = call @id(%r) : (i32) -> i32
  %d1 = arith.muli %i, %a : i32
  %d2 = arith.muli %i, %a : i32
  %t = arith.xori %d1, %d2 : i32
  return %s, %o, %n, %t, %x : i32, i1, i32, i32, i32
}
"""

# All kinds of passes; some run twice, so that the second changes nothing.
PASSES = (
    "--pass-pipeline=builtin.module(canonicalize,canonicalize,func.func(cse),func.func(cse),"
    "symbol-dce,inline,canonicalize,symbol-dce,sccp)"
)


# --- the debug output of the greedy driver --------------------------------------


@dataclass
class Tried:
    """One application of a pattern."""

    name: str
    op: str
    succeeded: bool = False
    reasons: list[str] = field(default_factory=list)
    changes: Told = field(default_factory=list)


@dataclass
class Folded:
    """One operation that was folded, and what was done with what that gave."""

    op: str
    changes: Told = field(default_factory=list)


@dataclass
class Greedy:
    """What the greedy driver did: patterns and folds in their order, and the dead operations."""

    tried: list[Tried] = field(default_factory=list)
    folded: list[Folded] = field(default_factory=list)
    dead: list[str] = field(default_factory=list)
    order: list[Tried | Folded | str] = field(default_factory=list)


class _Reader:
    """A state machine over the lines: in a pattern, after a fold, or in neither."""

    def __init__(self) -> None:
        self.found = Greedy()
        self.op = ""
        self.sink: Told = []  # of what was seen since the operation's first line

    def read(self, line: str) -> None:
        if match := _OPERATION.match(line):
            self.op, self.sink = match[1], []
        elif match := _PATTERN.match(line):
            tried = Tried(match[1], match[2])
            self.found.tried.append(tried)
            self.sink = tried.changes
        elif match := _REASON.match(line):
            self.found.tried[-1].reasons.append(match[1])
        elif match := _CHANGE.match(line):
            self.sink.append((_KINDS[match[1]], match[2]))
        else:
            self._end(line.strip())

    def _end(self, line: str) -> None:
        found = self.found
        if line == "} -> failure : pattern failed to match":
            self.sink = []  # what follows is not the pattern's doing
        elif line == "} -> success : pattern applied successfully":
            found.tried[-1].succeeded = True
            found.order.append(found.tried[-1])
            self.sink = []
        elif line == "} -> success : operation was folded":
            found.folded.append(Folded(self.op))
            self.sink = found.folded[-1].changes
            found.order.append(found.folded[-1])
        elif line == "} -> success : operation is trivially dead":
            found.dead.append(self.op)
            found.order.append(self.op)


def greedy(session: actiondbg.Session) -> Greedy:
    """Run the session's tool, of a build with assertions, and read what the greedy driver says."""
    argv = [str(session.target.tool.path), *session.target.argv[1:]]
    flags = ["--mlir-disable-threading", "--debug-only=greedy-rewriter", "-o", "/dev/null"]
    reader = _Reader()
    for line in run([*argv, *flags], check=True).stderr.splitlines():
        if line.startswith(_PREFIX):
            reader.read(line.removeprefix(_PREFIX))
    return reader.found


# --- the listener of the test passes ---------------------------------------------


def notifications(output: str) -> Told:
    """Read what the listener of a test pass was notified of."""
    told: Told = []
    for line in output.splitlines():
        if match := re.fullmatch(r"notifyOperation(Replaced|Modified|Erased): (\S+)", line):
            told.append((match[1].lower(), match[2]))
        elif match := re.fullmatch(r"notifyOperationInserted: (\S+), was (unlinked)?.*", line):
            told.append(("inserted" if match[2] else "moved", match[1]))
        elif match := re.fullmatch(r"notifyOperationInserted: (\S+), previous = .*", line):
            told.append(("moved", match[1]))
        elif match := re.fullmatch(r"notifyBlockInserted into (\S+): was (unlinked|linked)", line):
            told.append(("block " + ("inserted" if match[2] == "unlinked" else "moved"), match[1]))
        elif line == "notifyBlockErased":
            told.append(("block erased", ""))
    return told


def told(changes: list[Change]) -> Told:
    """Bring the agent's changes into the same form."""
    return [
        (one.kind, one.op)
        if one.what == "operation"
        else (f"block {one.kind}", "" if one.kind == "erased" else one.op)
        for one in changes
    ]


# --- operations in printed IR ------------------------------------------------------


def operations(text: str) -> Counter[str]:
    """Count the operations in IR that is printed in the generic form."""
    return Counter(_GENERIC.findall(text))


def difference(changes: list[Change]) -> Counter[str]:
    """Count the inserted operations less the erased ones; no entry is 0."""
    count: Counter[str] = Counter()
    for one in changes:
        if one.what == "operation" and one.kind in ("inserted", "erased"):
            count[one.op] += 1 if one.kind == "inserted" else -1
    return nonzero(count)


def nonzero(count: Counter[str]) -> Counter[str]:
    return Counter({op: n for op, n in count.items() if n})


def subtract(after: Counter[str], before: Counter[str]) -> Counter[str]:
    result = Counter(after)
    result.subtract(before)
    return nonzero(result)


# --- the session -------------------------------------------------------------------


def module(session: actiondbg.Session) -> str:
    """Print the module in the generic form."""
    with session.ir.print("module", generic=True) as printed:
        return printed.text


def stops(session: actiondbg.Session, go: str = "continue_") -> list[Stop]:
    """Run, and go on to the end; return the stops but for the last, which has to be an exit."""
    found = [session.start() if go in ("step", "next", "next_change") else session.run()]
    while found[-1].when != "exit":
        found.append(getattr(session, go)())
    end = found.pop()
    assert end.reason == "exited", end.message
    return found


def each(session: actiondbg.Session) -> Iterator[Stop]:
    """Run to the end; the session stands at each stop while that is looked at."""
    stop = session.run()
    while stop.when != "exit":
        yield stop
        stop = session.continue_()
    assert stop.reason == "exited", stop.message


def wait_until_gone(pid: int) -> None:
    """Wait for the end of a process that is not our child; a zombie is gone, too."""
    stat = Path(f"/proc/{pid}/stat")
    deadline = time.monotonic() + 30
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        while stat.read_text().rpartition(")")[2].split()[0] not in "ZX":
            assert time.monotonic() < deadline, f"process {pid} is still there"
            time.sleep(0.01)


def write(name: str, text: str) -> str:
    Path(name).write_text(text)
    return name
