"""Lineages of planted programs, compared with their truth."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

from actiondbg.lineage.lineage import Lineage
from actiondbg.lineage.recorded.recorded_lineage import RecordedLineage
from actiondbg.lineage.stage import Stage
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from tests.fakes.lineage.planted_programs import Kind
from tests.fakes.lineage.planted_truth import Carriers, Locations, Score, carriers, located, score


class Measured(NamedTuple):
    """How right the lineage of a program is.

    Args:
        exact: what the compiler showed.
        default: what locations show too.
    """

    exact: Score
    default: Score


def measured(
    tool: str, kind: Kind, seed: int, locations: Locations, folder: Path, functions: int = 8
) -> Measured:
    """Compile a random program, and compare its lineage with its planted constants.

    Args:
        tool: the mlir-opt.
        kind: of the program.
        seed: of the random numbers.
        locations: ``own``: each operation has a line of its own.
        folder: for the files.
        functions: the number of functions.
    """
    program = kind.program(random.Random(seed), functions)
    source, output, run = (folder / f"planted.{end}" for end in ("mlir", "out.mlir", "adbrec"))
    source.write_text(located(program.text, locations))
    done = record([tool, str(source), kind.pipeline, "-o", str(output)], run, lineage=True)
    if done.status:
        raise AssertionError(f"{kind.name}, seed {seed}: the tool ended with {done.status}")
    lineage = RecordedLineage(open_recording(run))
    first, last = lineage.stages
    before = carriers(source.read_text(), program.plants)
    return scores(lineage, first, last, before, carriers(output.read_text(), program.plants))


def scores(
    lineage: Lineage, first: Stage, last: Stage, before: Carriers, after: Carriers
) -> Measured:
    """Compare the lineage between two stages with the constants of their operations."""
    assert before.names == list(first.names) and after.names == list(last.names)
    found: list[Score] = []
    for exact in (True, False):
        related = lineage.relate(first, last, exact=exact)
        pairs = list(zip(related.sources, related.targets, strict=True))
        found.append(score(pairs, before, after))
    return Measured(*found)
