"""What a program that failed wrote to its stderr: the lines that report the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_FATAL = re.compile(
    r"Assertion [`'\"].*['\"] failed|LLVM ERROR: |UNREACHABLE executed|terminate called after|"
    r"ERROR: AddressSanitizer"
)
# As glibc's assert writes it: the program, the file, the line and the signature come before.
_ASSERTION = re.compile(r"(?:.*[ /])?([^ /]+:\d+): .*?(Assertion .* failed)")
# LLVM's crash handler, and the frames of its stack trace.
_TRACE = re.compile(
    r"PLEASE submit a bug report|Stack dump|\d+\.\t|\s*#\d+ |\s*\.\.\. |Aborted|\S+\(\+0x"
)
_LAST = 3  # lines


def fatal_error(errors: Path) -> str:
    """Return the line with the reason of a crash, such as a failed assertion, or nothing."""
    found = next((line for line in _lines(errors) if _FATAL.search(line)), "")
    assertion = _ASSERTION.match(found)
    return f"{assertion[1]}: {assertion[2]}" if assertion else found


def failure_text(errors: Path) -> str:
    """Return why a program failed, on one line.

    That is the reason of a crash, else the first error, else the last lines. Stack traces are left
    out.
    """
    lines = [line for line in _lines(errors) if not _TRACE.match(line)]
    error = next((line for line in lines if "error:" in line), "")
    return fatal_error(errors) or error or " / ".join(lines[-_LAST:])


def _lines(file: Path) -> Iterator[str]:
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            yield from (line.strip() for line in stream if line.strip())
    except OSError:
        return
