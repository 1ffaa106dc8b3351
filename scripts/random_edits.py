"""Edit IR at random stops over MLIR's own tests; report crashes that the edits cause.

python -m scripts.random_edits LLVM_PROJECT/mlir/test --count 200
"""

from __future__ import annotations

import argparse
import collections
import random
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from actiondbg.tool import find_tool
from tests.fakes.random_edits import KINDS, RandomEdit, crashes, edit_randomly

_RUN = re.compile(r"^\s*//\s*RUN:\s*mlir-opt (.*?)(?:\||>|$)", re.MULTILINE)
_DROPPED = re.compile(r"^--?(split-input-file.*|verify-diagnostics.*|o|mlir-print-.*)$")
_FATES = ("ended", "failed", "crashed")
_PIECES = re.compile(r"^// -----.*$", re.MULTILINE)


def runs_in(directory: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the pieces of each test, with the arguments of mlir-opt."""
    for file in sorted(directory.rglob("*.mlir")):
        text = file.read_text(encoding="utf-8", errors="replace")
        for run in _RUN.findall(text.replace("\\\n", "")):
            words = _arguments(run)
            if words is not None:
                for piece in _PIECES.split(text):
                    yield piece, words


def _arguments(run: str) -> list[str] | None:
    """Return the arguments without the input; None for a run that cannot be repeated alone."""
    try:
        words = [word for word in shlex.split(run) if word not in ("%s", "<%s", "<", "-")]
    except ValueError:
        return None
    kept = [word for word in words if not _DROPPED.match(word)]
    return None if any("%" in word or ";" in word for word in kept) else kept


def main() -> int:
    """Run the command line; return 1 if an edit caused a crash or was not carried out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", type=Path, help="the directory mlir/test of llvm-project")
    parser.add_argument("--count", type=int, default=200, help="the number of edits")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tool", default="mlir-opt")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    runs = list(runs_in(options.tests))
    tool = str(find_tool(options.tool).path)
    fates: collections.Counter[tuple[str, str]] = collections.Counter()
    faults = 0
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "input.mlir"
        while runs and fates.total() < options.count:
            piece, words = chance.choice(runs)
            file.write_text(piece)
            # Passes around those of the test, so that more than one place can be edited.
            passes = chance.choice(([], ["--canonicalize", "--cse", "--inline", "--canonicalize"]))
            words = [*passes[:2], *words, *passes[2:]]
            argv = [tool, str(file), *words]
            if subprocess.run(argv, capture_output=True, check=False).returncode:
                continue
            kind = min(KINDS, key=lambda kind: sum(fates[kind, fate] for fate in _FATES))
            edit = edit_randomly(argv, kind, chance)
            if edit.fate not in _FATES:
                continue
            fates[edit.kind, edit.fate] += 1
            faults += _report(edit, tool, words, piece, Path(directory))
    for (kind, fate), count in sorted(fates.items()):
        print(f"{kind:10} {fate:8} {count}")
    print(f"{sum(fates.values())} edits, {faults} faults")
    return int(faults > 0)


def _report(edit: RandomEdit, tool: str, words: list[str], piece: str, directory: Path) -> int:
    """Print an edit that went wrong; return 1 if that is the fault of editing."""
    if not edit.is_true:
        print(f"NOT AS WRITTEN {edit.kind} {edit.place} {shlex.join(words)}\n{piece}", flush=True)
        return 1
    if edit.fate != "crashed":
        return 0
    excused = crashes(tool, words, edit.module, directory)
    label = "crash without editing too" if excused else "CRASH"
    print(f"{label}: {edit.kind} {edit.place} {shlex.join(words)}: {edit.message}", flush=True)
    if not excused:
        print(edit.module, flush=True)
    return int(not excused)


if __name__ == "__main__":
    sys.exit(main())
