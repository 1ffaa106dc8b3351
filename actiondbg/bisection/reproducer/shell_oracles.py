"""Oracles as shell commands, for a script that needs no actiondbg."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

from actiondbg.bisection.execute_oracle import WITHOUT_FOLDS, WITHOUT_SCHEDULES, Execute
from actiondbg.bisection.oracles import (
    OUTPUT,
    Command,
    Crash,
    Diagnostic,
    FileCheck,
    Oracle,
    Verify,
    with_variable,
)
from actiondbg.bisection.reproducer.scripts import ENDED_WELL, KILLED, ShellJudge
from actiondbg.bisection.reproducer.strategies import CopiedFiles

_LIBRARIES = "libmlir_runner_utils.so libmlir_c_runner_utils.so"


def shell_judge(oracle: Oracle, copies: CopiedFiles, inside: Path | None = None) -> ShellJudge:
    """Return an oracle as shell commands.

    A function in Python, and the oracle of a class that a user derived, has none: the script runs
    the tool, and leaves the outputs to be judged.

    Args:
        copies: the files to copy; those that the oracle needs are added.
        inside: the directory that a command runs in, with its own files; None for the folder.
    """
    match oracle:
        case Command():
            return _command(oracle.command, copies, inside)
        case FileCheck():
            return _filecheck(oracle.file, copies)
        case Execute():
            return _compare(oracle, copies)
        case Crash():
            return ShellJudge(
                "the tool does not die of a signal",
                [
                    f'[ "$status" -eq {KILLED} ] && return 125',
                    '[ "$status" -ge 128 ] && return 1',
                    ENDED_WELL,
                ],
            )
        case Verify():
            return ShellJudge(
                "the verifier finds the IR valid",
                [
                    '[ "$status" -eq 0 ] && return 0',
                    '[ "$status" -lt 128 ] && grep -q "error: " "$err" && return 1',
                    "return 125",
                ],
            )
        case Diagnostic():
            return _diagnostic(oracle.glob)
        case _:
            return ShellJudge(f"{oracle.as_option()} finds the output good", None)


def _command(command: str, copies: CopiedFiles, inside: Path | None) -> ShellJudge:
    text = copies.rewrite(command) if inside is None else command
    change = "" if inside is None else f"cd -- {shlex.quote(str(inside))} && "
    return ShellJudge(
        f"the command {text!r} ends with status 0",
        [
            ENDED_WELL,
            f'(export {OUTPUT}="$out"; {change}limit sh -c "$test") < "$out"',
            "code=$?",
            '[ "$code" -le 125 ] && return "$code"',
            'echo "The test ended with status $code: it took too long, or cannot be run."',
            "return 125",
        ],
        [f"# The test of an output.\ntest={shlex.quote(with_variable(text, OUTPUT))}\n"],
    )


def _filecheck(file: Path, copies: CopiedFiles) -> ShellJudge:
    name = copies.add((copies.base / file).absolute())
    ours = shlex.quote(str(Path(sys.executable).with_name("filecheck")))
    return ShellJudge(
        f"FileCheck finds what {name} checks in the output",
        [
            ENDED_WELL,
            f'limit "$FILECHECK" {shlex.quote(name)} --input-file "$out"',
            'code=$?; [ "$code" -le 1 ] && return "$code"',
            "return 125",
        ],
        [
            "# LLVM's FileCheck, or filecheck of PyPI.",
            '[ -n "$FILECHECK" ] || '
            f"FILECHECK=$(command -v filecheck || command -v FileCheck || echo {ours})\n",
        ],
    )


def _diagnostic(glob: str) -> ShellJudge:
    pattern = re.sub(r"\[\^", "[!", glob)  # the syntax of the shell
    return ShellJudge(
        f"no diagnostic matches {glob!r}",
        [
            "while IFS= read -r line; do",
            "  case $line in *': '$glob) return 1 ;; esac",
            'done < "$err"',
            ENDED_WELL,
        ],
        [f"glob={shlex.quote(pattern)}\n"],
    )


# --- Execute: MLIR tools and awk ---------------------------------------------------------------


def _compare(oracle: Execute, copies: CopiedFiles) -> ShellJudge:
    source = _source(oracle, copies)
    return ShellJudge(
        "the output, lowered and executed, prints what the input prints that is lowered without "
        "these passes",
        [
            ENDED_WELL,
            'program "$out" "$work/printed" || return',
            f'awk -v tolerance={oracle.tolerance:g} "$same" "$work/expected" "$work/printed"',
        ],
        [
            _TOOLS,
            _libraries(oracle.shared_libs),
            _program(oracle),
            _SAME,
            f'program {source} "$work/expected" || {{',
            f'  echo "The program in {source} cannot be lowered and executed."',
            "  exit 2",
            "}",
        ],
    )


def _source(oracle: Execute, copies: CopiedFiles) -> str:
    if oracle.input is None and copies.source is not None:
        return shlex.quote(copies.source)
    source = oracle.input or copies.input  # a program reads it in its own place
    assert source is not None  # without an input the oracle has refused the bisection
    return shlex.quote(copies.add(copies.base / source))


_TOOLS = """\
# The tools beside MLIR_OPT, else those of PATH.
beside() {
  folder=$(dirname -- "$(command -v -- "$MLIR_OPT")")
  if [ -x "$folder/$1" ]; then echo "$folder/$1"; else command -v "$1"; fi
}
lower=$(beside mlir-opt) || { echo "There is no mlir-opt."; exit 2; }
runner=${MLIR_RUNNER:-$(beside mlir-runner)}
[ -n "$runner" ] || { echo "There is no mlir-runner."; exit 2; }
"""


def _libraries(given: tuple[str, ...] | None) -> str:
    if given is not None:
        return f"libraries={shlex.quote(','.join(given))}\n"
    return f"""\
libraries=
root=$(dirname -- "$(dirname -- "$(readlink -f -- "$runner")")")
for folder in "$root/lib" "$root/lib64"; do
  for name in {_LIBRARIES}; do
    [ -f "$folder/$name" ] && libraries=$libraries${{libraries:+,}}$folder/$name
  done
done
"""


def _program(oracle: Execute) -> str:
    words = ["-e", oracle.entry, f"--entry-point-result={oracle.entry_result}"]
    folding, lower, failed = "", '"$lower"', "|| return 125"
    if oracle.needs_actiondbg:
        ours = shlex.quote(str(Path(sys.executable).with_name("actiondbg")))
        folding = f"""\

# The folds of the lowering have the bug, too: actiondbg runs it without them.
[ -n "$ACTIONDBG" ] || ACTIONDBG=$(command -v actiondbg || echo {ours})
"""
        lower = f'"$ACTIONDBG" {shlex.join(WITHOUT_FOLDS)} "$lower"'
        failed = '> "$work/lowering" 2>&1 || { cat "$work/lowering"; return 125; }'
    return f"""\
pipeline={shlex.quote(oracle.lower)}
{folding}
# Removes the schedules of the transform dialect, which are no part of the program.
schedules={shlex.quote(WITHOUT_SCHEDULES)}

# program FILE PRINTED: lowers a program, executes it, and keeps what it prints.
program() {{
  program=$1
  if grep -q "transform[.]" "$1"; then
    limit "$lower" "$1" --allow-unregistered-dialect -o "$work/printed.mlir" || return 125
    awk "$schedules" "$work/printed.mlir" > "$work/program.mlir"
    program=$work/program.mlir
  fi
  limit {lower} "$program" --allow-unregistered-dialect --pass-pipeline="$pipeline" \\
    -o "$work/lowered.mlir" {failed}
  limit "$runner" "$work/lowered.mlir" {shlex.join(words)} \\
    ${{libraries:+--shared-libs="$libraries"}} > "$2"
  code=$?
  [ "$code" -eq 0 ] && return 0
  [ "$code" -ge 128 ] && [ "$code" -ne {KILLED} ] && return 1
  return 125
}}
"""


# Compares words: numbers within the tolerance, integers and all others exactly.
_SAME = r"""same='
function words(line) {
  gsub(/0x[0-9a-fA-F]+/, "0x", line)
  gsub(/[ \t]+/, " ", line)
  sub(/^ /, "", line); sub(/ $/, "", line)
  gsub(/ /, " _ ", line)  # a blank is a word too
  gsub(/[][(){},;:=]/, " & ", line)
  return line
}
function number(word) {
  return word ~ /^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$/
}
function size(x) { return x < 0 ? -x : x }
function differs(a, b,   near) {
  if (a "" == b "") return 0
  if (!number(a) || !number(b) || (a b) !~ /[.eE]/) return 1
  near = tolerance * (size(a) > size(b) ? size(a) : size(b))
  return size(a - b) > (near > tolerance ? near : tolerance)
}
{ line = words($0); if (line == "") next }
FILENAME == ARGV[1] { expected[++lines] = line; said[lines] = $0; next }
{
  seen++
  count = split(expected[seen], left, " ")
  if (seen > lines || count != split(line, right, " ")) wrong = 1
  for (at = 1; at <= count && !wrong; at++) if (differs(left[at], right[at])) wrong = 1
  if (wrong && !told++) print "expected: " said[seen] "\nprinted:  " $0
}
END { exit wrong || seen != lines }
'
"""
