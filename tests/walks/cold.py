"""Cold runs: what a run writes that goes straight to its end with the same skips and edits."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.paths import COMMAND
from tests.walks.case import OUT, Case
from tests.walks.front_end import Broken


class Written(NamedTuple):
    """The end of a run: its status, and its output; None without a file."""

    status: int
    output: str | None


def cold_run(case: Case, folder: Path, skips: Path, edits: Path) -> Written:
    """Run the tool from its start to its end.

    Without skips and edits, and where only whole passes of a flat pipeline are skipped, that is
    the tool alone.

    Args:
        case: what is run.
        folder: an empty one.
        skips: a file of ``save skips``.
        edits: a file of ``save edits``.
    """
    case.program.write(folder / "in.mlir")
    skipped = _skipped(skips)
    if edits.exists():
        return _with_actiondbg(case, folder, skips, edits)
    if not skipped:
        return _alone(case, folder, case.argv())
    left = _pipeline_without(case, skipped)
    if left is not None:
        return _alone(case, folder, case.argv(left))
    return _with_actiondbg(case, folder, skips, None)


def _skipped(skips: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in skips.read_text().splitlines()[1:]]


def _pipeline_without(case: Case, skipped: list[dict[str, object]]) -> str | None:
    """Return the pipeline that is left without the skipped passes; None if it is no pipeline."""
    passes = case.program.passes
    flat = "(" not in passes and "--split-input-file" not in case.program.options
    if not flat or any(one.get("tag") != "pass-execution" for one in skipped):
        return None
    names = passes.split(",")
    plain = [name.partition("{")[0] for name in names]
    if len(set(plain)) != len(plain):  # which of them was skipped is not said here
        return None
    gone = {one.get("name") for one in skipped}
    kept = [name for name, bare in zip(names, plain, strict=True) if bare not in gone]
    return ",".join(kept) if len(kept) == len(names) - len(gone) else None


def _alone(case: Case, folder: Path, argv: list[str]) -> Written:
    run = subprocess.run(
        ["setarch", "-R", *argv], cwd=folder, capture_output=True, text=True, check=False
    )
    file = folder / OUT
    if case.output == "file":
        return Written(run.returncode, file.read_text() if file.exists() else None)
    return Written(run.returncode, run.stdout)


def _with_actiondbg(case: Case, folder: Path, skips: Path, edits: Path | None) -> Written:
    out = folder / OUT
    redirect = [] if case.output == "file" else ["--tool-stdout", OUT]
    saved = ["--skips", str(skips), *([] if edits is None else ["--edits", str(edits)])]
    options = ["-nx", "--json", *redirect, *saved]
    lines = ["run", "continue", "continue"]
    run = subprocess.run(
        [COMMAND, *options, "--", *case.argv()],
        cwd=folder,
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        check=False,
    )
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    ends = [one["result"] for one in answers if one["ok"] and one["result"]["when"] == "exit"]
    if not ends:
        raise Broken("the cold run does not end", f"{answers}\n{run.stderr[-1000:]}")
    return Written(ends[0]["status"], out.read_text() if out.exists() else None)
