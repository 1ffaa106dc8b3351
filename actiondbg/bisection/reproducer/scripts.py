"""The scripts of a reproducer: repro.sh for a POSIX shell, session.adb for actiondbg's shell."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from actiondbg.bisection.folder import FolderFile
from actiondbg.bisection.oracles import ShellJudge
from actiondbg.bisection.result import Entry, Result
from actiondbg.bisection.verdict import Verdict
from actiondbg.protocol.tags import FOLD_TAG, STEP_TAG
from actiondbg.session.skip_plan import RuleEntry
from actiondbg.support.counts import counted
from actiondbg.support.globs import escape_glob
from actiondbg.tool.agent_environment import COMPILING_ANEW

Expected = Literal["good", "bad"]

OUT = "\0out"  # in arguments: the file of the tool's output

UNJUDGED = 3  # the exit status of a script without a judge

_LINE = re.compile(r"(?m)^(\d+)\. (\w+), expected (?:good|bad): ")


@dataclass(frozen=True)
class ScriptStep:
    """A run of the tool whose output is judged.

    Args:
        expected: the expected verdict.
        title: describes the run, without a final dot.
        args: the arguments; OUT stands for the file of the output.
        piped: the file on the standard input, or None.
        essential: whether the strategy fails if this step is not confirmed.
        pair: the name of a group of steps that are shown together or not at all; empty for none.
        skips: whether actiondbg runs the tool, and skips what the file of skips names.
    """

    expected: Expected
    title: str
    args: Sequence[str]
    piped: str | None = None
    essential: bool = True
    pair: str = ""
    skips: bool = False

    @property
    def key(self) -> tuple[str, ...]:
        """Identifies the run."""
        return (FolderFile.SKIPS if self.skips else "", *self.args)


def make_script(
    head: Sequence[str],
    steps: Sequence[ScriptStep],
    judge: ShellJudge,
    tool: Path,
    seconds: float,
    tries: int = 1,
    directory: Path | None = None,
) -> str:
    """Return repro.sh.

    Args:
        head: the first lines of the comment at its top.
        tool: the stock tool, unless MLIR_OPT is set.
        seconds: the time limit of one run of the tool or of the judge.
        tries: how often each run is repeated, with random addresses, until it is bad; 1 for one run
            with fixed addresses.
        directory: of a program, which runs there; None for a tool, which runs in the folder.
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
        about[-1] = (
            "No shell command can judge the outputs: keep them with KEEP, and judge them yourself. "
            f"Exit status: {UNJUDGED}."
        )
    parts = [
        "#!/bin/sh",
        *(f"# {' '.join(line.split())}".rstrip() for line in about),
        _start(tool, seconds),
        _RANDOM.format(tries=tries) if tries > 1 else _FIXED,
        *judge.preamble,
        _judge(judge),
        _CONCLUDE,
        *([_program(directory)] if directory is not None else []),
        _run(directory is not None, any(step.skips for step in steps)),
        _VERDICT,
        _EXPECT_ONCE if tries == 1 else _EXPECT_OFTEN,
        *(_call(step) for step in steps),
        _END,
        _AS_EXPECTED if judge.lines is not None else _NOT_JUDGED,
    ]
    return "\n".join(parts)


def read_verdicts(text: str) -> dict[int, Verdict | None]:
    """Read the output of repro.sh: verdicts by number of the step; None if it did not judge."""
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


def _judge(judge: ShellJudge) -> str:
    lines = ["return 126"] if judge.lines is None else judge.lines
    body = "\n".join(f"  {line}" for line in lines)
    return f"""\
# judge: of $out, $err and $status; 0 good, 125 untestable, 126 no verdict, else bad.
judge() {{
{body}
}}
"""


_FIXED = """\
# The same addresses in each run, as in the bisection, where setarch can do that.
layout="setarch $(uname -m) -R"
$layout true 2> /dev/null || layout=
"""
_RANDOM = """\
# The bug depends on the addresses of the tool, which are random: a run is bad if one of these is.
tries={tries} layout=
"""
_VERDICT = """\
# verdict_on_run: has judged what the tool wrote; sets verdict.
verdict_on_run() {
  judge < /dev/null > "$work/said" 2>&1
  case $? in
    0) verdict=good ;;
    125) verdict=untestable ;;
    126) verdict=unjudged ;;
    *) verdict=bad ;;
  esac
}
"""
_EXPECT_ONCE = """\
# expect good|bad TITLE STDIN ARGS...: runs the tool, and has judged what it wrote.
expect() {
  wanted=$1 title=$2
  shift 2
  number=$((number + 1))
  run "$@"
  verdict_on_run
  echo "$number. $verdict, expected $wanted: $title"
  conclude
}
"""
_EXPECT_OFTEN = """\
# expect good|bad TITLE STDIN ARGS...: runs the tool until it is bad, or all tries are made.
expect() {
  wanted=$1 title=$2 verdict=
  shift 2
  number=$((number + 1)) try=0
  while [ "$try" -lt "$tries" ] && [ "$verdict" != bad ]; do
    try=$((try + 1))
    run "$@"
    [ "$try" -gt 1 ] && cmp -s -- "$out" "$work/judged" && continue  # it has the same verdict
    verdict_on_run
    cp -- "$out" "$work/judged"
  done
  echo "$number. $verdict, expected $wanted: $title (try $try of $tries)"
  conclude
}
"""
_CONCLUDE = """\
# conclude: keeps the files of a run, and reports a verdict that is not expected.
conclude() {
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
if [ "$number" -eq 0 ]; then
  echo "No run of the tool alone shows the culprit: a session with session.adb does."
  exit 1
fi
if [ "$missed" -ne 0 ]; then
  echo "$missed of $number verdicts are not as expected."
  exit 1
fi"""
_AS_EXPECTED = 'echo "All $number verdicts are as expected."\n'
_NOT_JUDGED = f"""\
echo "The outputs were not judged: KEEP=FOLDER keeps them."
exit {UNJUDGED}
"""


def _program(directory: Path) -> str:
    variables = " ".join(f"{name}={value}" for name, value in COMPILING_ANEW.items())
    return f"""\
# The program runs in its directory, as its files are not copied, and takes nothing from caches.
directory={shlex.quote(str(directory))}
export {variables}
"""


def _run(is_program: bool, has_skips: bool) -> str:
    """Return the function that runs the tool."""
    command, printed = 'limit $layout "$MLIR_OPT" "$@"', "$work/stdout"
    before = ""
    if has_skips:
        command, printed = 'limit $layout "$@"', "$printed"
        before = _IN_ACTIONDBG
    if is_program:
        command = f'(cd -- "$directory" && {command})'
    preamble = f"{_WITH_SKIPS.format(ours=shlex.quote(_ACTIONDBG))}\n" if has_skips else ""
    return f"""\
{preamble}# run STDIN ARGS...: runs the tool; sets status, and writes out and err.
run() {{
  stdin=$1
  shift
  : > "$out"
{before}  {command} < "$stdin" > "{printed}" 2> "$err"
  status=$?
  [ -s "$out" ] || mv -- "$work/stdout" "$out"
}}
"""


_ACTIONDBG = str(Path(sys.executable).with_name("actiondbg"))
_WITH_SKIPS = """\
[ -n "$ACTIONDBG" ] || ACTIONDBG=$(command -v actiondbg || echo {ours})
skips=

# with_skips COMMAND...: actiondbg runs the tool, and skips what is in the file.
with_skips() {{
  skips=$PWD/$1
  shift
  "$@"
  skips=
}}
"""
_IN_ACTIONDBG = """\
  set -- "$MLIR_OPT" "$@"
  printed=$work/stdout
  if [ -n "$skips" ]; then
    printed=$work/actiondbg
    set -- "$ACTIONDBG" --batch -nx --return-child-result --skips "$skips" \\
      --tool-stdout "$work/stdout" -ex 'set reproducer-directory off' -ex run -- "$@"
  fi
"""


def _call(step: ScriptStep) -> str:
    words = " ".join('"$out"' if word == OUT else shlex.quote(word) for word in step.args)
    stdin = shlex.quote(step.piped or "/dev/null")
    skipping = f"with_skips {FolderFile.SKIPS} " if step.skips else ""
    return f"{skipping}expect {step.expected} {shlex.quote(step.title)} {stdin} \\\n  {words}"


# --- session.adb --------------------------------------------------------------------------


def session_script(result: Result, command: str) -> str:
    """Return session.adb, which goes to the culprit and displays it.

    Args:
        result: of the bisection.
        command: the command line that runs the script.
    """
    entries = _entries(result)
    one = len(entries) == 1
    lines = ["# Stops before the culprit, displays it, applies it, and displays its changes:"]
    if not one:
        lines = [
            f"# Stops before and after each of {counted(len(entries), 'action')}, and "
            "displays them:"
        ]
    lines += [f"#   {' '.join(command.split())}", ""]
    if one:
        for entry in entries:
            lines += [_title(entry), f"break #{entry.ordinal}", "run", *_before(entry), "next"]
            lines += _after(entry, result)
        return "\n".join([*lines, ""])
    # Commands of breakpoints, as one action may run in another.
    controls: list[str] = []
    for entry in entries:
        after = _after(entry, result)
        events = [(f"break #{entry.ordinal}", _before(entry))]
        events += [(f"break #{entry.ordinal} --after", after)] if after else []
        lines.append(_title(entry))
        for command, display in events:
            controls.append("continue" if controls else "run")
            lines += [command, "commands", *(f"  {each}" for each in display), "end"]
    return "\n".join([*lines, "", *controls, ""])


def _title(entry: Entry) -> str:
    return f"# {' '.join(entry.describe().split())}"


def _before(entry: Entry) -> Sequence[str]:
    return ("backtrace", "print function" if entry.tag == FOLD_TAG else "print")


def _after(entry: Entry, result: Result) -> Sequence[str]:
    culprit = result.culprit
    if culprit is not None and culprit.ordinal == entry.ordinal and culprit.outcome is None:
        return ()  # the tool ended in the action
    return ("diff",)


def skip_rules(result: Result) -> list[RuleEntry]:
    """Return rules that skip what makes the output good, with the retries of the driver.

    Of mode minimize, the culprit is skipped, and no trial has shown that this is good.
    """
    if result.mode == "skip":
        return [_rule(entry) for entry in result.skips]
    return [] if result.culprit is None else [_rule(result.culprit.entry)]


def _rule(entry: Entry) -> RuleEntry:
    if entry.is_pass or entry.tag == STEP_TAG:  # no driver tries these again
        return RuleEntry(rule=f"#{entry.ordinal}")
    kind = "fold" if entry.tag == FOLD_TAG else "pattern"
    terms = [f'{kind}:"{escape_glob(entry.name)}"']
    if entry.function is not None:
        terms.append(f'func:"{escape_glob(entry.function)}"')
    condition = f"ordinal >= {entry.ordinal}"
    # Not the file: the folder has a copy of the input.
    line = re.fullmatch(".+:([1-9][0-9]*):[0-9]+", entry.location or "")
    if line:
        condition += f" and line == {line[1]}"
    return RuleEntry(rule=" and ".join(terms), condition=condition)


def _entries(result: Result) -> Sequence[Entry]:
    """Return the actions to display, with their ordinals in the run that skips nothing."""
    if result.mode == "minimize" and result.applied:
        return result.applied
    if result.mode == "skip" and result.skips:
        return result.skips
    return [result.culprit.entry] if result.culprit else []
