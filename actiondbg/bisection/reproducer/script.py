"""repro.sh: a POSIX shell script that shows good and bad with the stock tool alone."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from actiondbg.bisection.reproducer.portable import OUT
from actiondbg.bisection.verdict import Verdict

Wanted = Literal["good", "bad"]

ENDED_WELL = '[ "$status" -eq 0 ] || return 125'  # of a judge
KILLED = 137  # what limit ends with when a command took too long; a crash ends with another

_LINE = re.compile(r"(?m)^(\d+)\. (\w+), expected (?:good|bad): ")


@dataclass(frozen=True)
class Step:
    """A run of the tool whose output is judged.

    Args:
        wanted: the verdict that is expected.
        title: what is run, without a final dot.
        args: what follows the tool; OUT stands for the file of the output.
        piped: the file that is its standard input, or None.
        essential: whether the script shows too little without it.
        pair: names the steps that show something together only; empty for one by itself.
    """

    wanted: Wanted
    title: str
    args: Sequence[str]
    piped: str | None = None
    essential: bool = True
    pair: str = ""


@dataclass(frozen=True)
class Judge:
    """How an output is judged, in the shell's words.

    Args:
        good: what is good, in a phrase: "the command 'check.sh {}' ends with status 0".
        lines: the body of a function. It finds the paths ``$out`` and ``$err`` and the exit
            ``$status`` of the tool, and returns 0 for good, 125 for untestable, another up to 124
            for bad. None when no command of the shell's can judge.
        setup: what is done once, before.
    """

    good: str
    lines: Sequence[str] | None
    setup: Sequence[str] = field(default_factory=list[str])


def make_script(
    head: Sequence[str], steps: Sequence[Step], judge: Judge, tool: Path, seconds: float
) -> str:
    """Return the script.

    Args:
        head: what it shows, in lines.
        steps: in order.
        judge: of the outputs.
        tool: the stock tool, which is taken when MLIR_OPT does not say another.
        seconds: for one run of the tool, and for one of the judge.
    """
    name = " ".join(tool.name.split())
    about = [
        *head,
        f"Good is: {judge.good}.",
        "",
        f"MLIR_OPT=PATH takes another {name}. KEEP=FOLDER keeps what the runs wrote in it.",
        "Exit status: 0 when each verdict is as expected, 1 when one is not.",
    ]
    if judge.lines is None:
        about[-1] = "No command of the shell's can judge the outputs: keep them, and judge them."
    parts = [
        "#!/bin/sh",
        *(f"# {' '.join(line.split())}".rstrip() for line in about),
        _start(tool, seconds),
        *judge.setup,
        _judge(judge),
        _EXPECT,
        *(_call(step) for step in steps),
        _END,
    ]
    return "\n".join(parts)


def read_verdicts(text: str) -> dict[int, Verdict | None]:
    """Return what a run of the script said of each step, from 1; None where it cannot judge."""
    return {
        int(number): word if word in ("good", "bad", "untestable") else None
        for number, word in _LINE.findall(text)
    }


def _start(tool: Path, seconds: float) -> str:
    return f"""
case $MLIR_OPT in /*) ;; */*) MLIR_OPT=$PWD/$MLIR_OPT ;; esac
case $KEEP in '' | /*) ;; *) KEEP=$PWD/$KEEP ;; esac
CDPATH='' cd -- "$(dirname -- "$0")" || exit 2
if [ -z "$MLIR_OPT" ]; then
  MLIR_OPT={shlex.quote(str(tool))}
  [ -x "$MLIR_OPT" ] || MLIR_OPT={shlex.quote(tool.name)}
fi
case $MLIR_OPT in */*) PATH=$PATH:${{MLIR_OPT%/*}} ;; esac  # for the tools beside it
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
out=$work/out err=$work/err number=0 missed=0
[ -z "$KEEP" ] || mkdir -p -- "$KEEP" || exit 2

# limit COMMAND...: ends it with status 137 when it takes too long, where there is a timeout.
limit() {{
  if command -v timeout > /dev/null; then timeout -s KILL {seconds:g} "$@"; else "$@"; fi
}}
"""


def _judge(judge: Judge) -> str:
    lines = ["return 126"] if judge.lines is None else judge.lines
    body = "\n".join(f"  {line}" for line in lines)
    return f"""\
# judge: of $out, $err and $status; 0 good, 125 untestable, 126 no verdict, else bad.
judge() {{
{body}
}}
"""


_EXPECT = """\
# expect good|bad TITLE STDIN ARGS...: runs the tool, and has judged what it wrote.
expect() {
  wanted=$1 title=$2 stdin=$3
  shift 3
  number=$((number + 1))
  : > "$out"
  limit "$MLIR_OPT" "$@" < "$stdin" > "$work/stdout" 2> "$err"
  status=$?
  [ -s "$out" ] || mv -- "$work/stdout" "$out"
  judge < /dev/null > "$work/said" 2>&1
  case $? in
    0) verdict=good ;;
    125) verdict=untestable ;;
    126) verdict=unjudged ;;
    *) verdict=bad ;;
  esac
  echo "$number. $verdict, expected $wanted: $title"
  if [ -n "$KEEP" ]; then
    cp -- "$out" "$KEEP/$number.out" && cp -- "$err" "$KEEP/$number.err"
    echo "$status" > "$KEEP/$number.status"
  fi
  [ "$verdict" = "$wanted" ] || [ "$verdict" = unjudged ] && return
  missed=$((missed + 1))
  echo "   The tool ended with status $status; the end of what it and the judge said:"
  tail -n 5 -- "$err" "$work/said" | sed 's/^/   | /'
}
"""

_END = """
if [ "$missed" -ne 0 ]; then
  echo "$missed of $number verdicts are not as expected."
  exit 1
fi
[ "$verdict" = unjudged ] || echo "All $number verdicts are as expected."
"""


def _call(step: Step) -> str:
    words = " ".join('"$out"' if word == OUT else shlex.quote(word) for word in step.args)
    stdin = shlex.quote(step.piped or "/dev/null")
    return f"expect {step.wanted} {shlex.quote(step.title)} {stdin} \\\n  {words}"
