"""Oracles in the words of a POSIX shell, for a script that needs nothing of ours."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

from actiondbg.bisection.oracles.compare import Compare
from actiondbg.bisection.oracles.compare_shell import compare_judge
from actiondbg.bisection.oracles.oracle import Command, Crash, Diagnostic, FileCheck, Oracle, Verify
from actiondbg.bisection.reproducer.portable import Copies
from actiondbg.bisection.reproducer.script import ENDED_WELL, KILLED, Judge


def judge_of(oracle: Oracle, copies: Copies, inside: Path | None = None) -> Judge:
    """Return an oracle as a function of the shell's.

    Args:
        oracle: which.
        copies: where the files are noted that it needs in the folder.
        inside: where a command runs, with the files that are there; None for the folder.
    """
    if isinstance(oracle, Command):
        return _command(oracle.command, copies, inside)
    if isinstance(oracle, FileCheck):
        return _filecheck(oracle.file, copies)
    if isinstance(oracle, Compare):
        return compare_judge(oracle, copies)
    if isinstance(oracle, Crash):
        return _crash()
    if isinstance(oracle, Verify):
        return _verify()
    if isinstance(oracle, Diagnostic):
        return _diagnostic(oracle.glob)
    return Judge(f"{oracle.words()} says so", None)


def _command(command: str, copies: Copies, inside: Path | None) -> Judge:
    text = copies.rewrite(command) if inside is None else command
    change = "" if inside is None else f"cd -- {shlex.quote(str(inside))} && "
    return Judge(
        f"the command {text!r} ends with status 0",
        [
            ENDED_WELL,
            'command=$(printf "%s\\n" "$test" | sed "s|{}|$out|g")',
            f'({change}limit sh -c "$command") < "$out"',
            "code=$?",
            '[ "$code" -le 125 ] && return "$code"',
            'echo "The test ended with status $code: it took too long, or cannot be run."',
            "return 125",
        ],
        [f"# The test; {{}} is the output.\ntest={shlex.quote(text)}\n"],
    )


def _filecheck(file: Path, copies: Copies) -> Judge:
    name = copies.add((copies.base / file).absolute())
    ours = shlex.quote(str(Path(sys.executable).with_name("filecheck")))
    return Judge(
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


def _crash() -> Judge:
    return Judge(
        "the tool does not die of a signal",
        [
            f'[ "$status" -eq {KILLED} ] && return 125',
            '[ "$status" -ge 128 ] && return 1',
            ENDED_WELL,
        ],
    )


def _verify() -> Judge:
    return Judge(
        "the verifier finds the IR valid",
        [
            '[ "$status" -eq 0 ] && return 0',
            '[ "$status" -lt 128 ] && grep -q "error: " "$err" && return 1',
            "return 125",
        ],
    )


def _diagnostic(glob: str) -> Judge:
    pattern = re.sub(r"\[\^", "[!", glob)  # as the shell writes it
    return Judge(
        f"no diagnostic matches {glob!r}",
        [
            "while IFS= read -r line; do",
            "  case $line in *': '$glob) return 1 ;; esac",
            'done < "$err"',
            ENDED_WELL,
        ],
        [f"glob={shlex.quote(pattern)}\n"],
    )
