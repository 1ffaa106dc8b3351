"""How right texts alone are: between the stages of logs without locations, which judge them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from actiondbg.lineage.dumps.text_chains import ComparedTexts, TextEdges
from actiondbg.lineage.locations import UNKNOWN, SourceRange
from actiondbg.lineage.opened_lineage import open_lineage
from actiondbg.lineage.stage import Stage
from scripts.benchmarks.lineage.pipelines import Pipeline
from scripts.benchmarks.recording import command

HEADER = """\
| log | stages | operations in all | related by text alone | right |
|---|---|---|---|---|"""
_LOG = ("--mlir-print-ir-before-all", "--mlir-print-ir-after-all", "--mlir-print-ir-module-scope")


def measured(tool: str, pipeline: Pipeline, directory: Path, copies: int) -> str:
    """Return the row of a pipeline."""
    source, log, run = (directory / f"texts.{ending}" for ending in ("mlir", "log", "adbrec"))
    source.write_text(pipeline.source(copies))
    flags = [f"--pass-pipeline={pipeline.passes}", "--mlir-disable-threading", *_LOG]
    with log.open("wb") as file:
        argv = [tool, str(source), *flags, "--mlir-print-debuginfo", "-o", os.devnull]
        subprocess.run(argv, check=True, stderr=file)
    command("import", str(log), "-o", str(run))
    return row(pipeline.name, open_lineage(run).lineage.stages)


def row(name: str, stages: Sequence[Stage]) -> str:
    """Return the row of a log: pairs count whose locations are known."""
    total = right = 0
    for before, after in pairwise(stages):
        texts = TextEdges(_unlocated(before), _unlocated(after), lambda _one, _other: False)
        functions = {
            each for at in before.symbols for each in _known(before, at)
        }  # callers, which all in them have in common
        for at in range(len(before)):
            ranges = _known(before, at)
            for pair in texts.heirs(at):
                others = _known(after, pair.at)
                if ranges and others:
                    total += 1
                    right += ranges == others or bool((ranges & others) - functions)
    operations = sum(map(len, stages))
    share = right / total if total else 1.0
    return f"| {name} | {len(stages):,} | {operations:,} | {total:,} | {share:.4f} |"


def _unlocated(stage: Stage) -> ComparedTexts:
    """Return the texts of a stage whose locations are unknown."""
    columns: dict[str, Any] = {one.name: getattr(stage, one.name) for one in fields(Stage)}
    columns["locations"] = [UNKNOWN] * len(stage)
    return ComparedTexts(Stage(**columns))


def _known(stage: Stage, index: int) -> frozenset[SourceRange]:
    return frozenset(one for one in stage.locations[index].ranges if one.is_known)
