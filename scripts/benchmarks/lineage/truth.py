"""Precision and recall of lineages against plants."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from actiondbg.lineage.dumps.dump_lineage import DumpLineage
from actiondbg.lineage.lineage import Lineage
from actiondbg.lineage.opened_lineage import open_lineage
from actiondbg.lineage.recorded.recorded_lineage import RecordedLineage
from actiondbg.lineage.stage import Stage
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from scripts.benchmarks.lineage.pipelines import Pipeline
from scripts.benchmarks.lineage.plants import Plant, carriers


class Score(NamedTuple):
    """How right a lineage is.

    Args:
        pairs: how many pairs of carriers it claims.
        right: how many of them have a plant in common.
        planted: the plants of operations of the output, each counted once for each of them.
        reached: how many of them were reached from a carrier in the input.
        wrong: the names of the carriers of wrong pairs, with examples.
        missing: the names of carriers that were not reached, with examples.
    """

    pairs: int
    right: int
    planted: int
    reached: int
    wrong: Counter[str]
    missing: Counter[str]

    @property
    def precision(self) -> float:
        """The share of right pairs; 1 without any."""
        return self.right / self.pairs if self.pairs else 1.0

    @property
    def recall(self) -> float:
        """The share of plants that were reached; 1 without any."""
        return self.reached / self.planted if self.planted else 1.0


def score(lineage: Lineage, *, exact: bool = False) -> Score:
    """Compare the pairs that a lineage claims with the plants of both ends."""
    source, target = lineage.stages[0], lineage.stages[-1]
    before, after = carriers(source), carriers(target)
    related = lineage.relate(source, target, exact=exact)
    known_plants = frozenset[Plant]().union(*before.own.values())
    pairs = right = 0
    wrong: Counter[str] = Counter()
    reached: dict[int, set[Plant]] = {}
    for at, to in zip(related.sources, related.targets, strict=True):
        one, other = before.all.get(at), after.all.get(to, frozenset[Plant]()) & known_plants
        if not one or not other:
            continue
        pairs += 1
        if one & other:
            right += 1
            reached.setdefault(to, set()).update(before.own.get(at, ()))
        else:
            wrong[f"{_shown(source, at)} -> {_shown(target, to)}"] += 1
    missing: Counter[str] = Counter()
    planted = found = 0
    for to, every in after.own.items():
        plants = every & known_plants
        if to not in after.all:
            continue
        planted += len(plants)
        known = plants & reached.get(to, set[Plant]())
        found += len(known)
        if known != plants:
            missing[_shown(target, to)] += len(plants - known)
    return Score(pairs, right, planted, found, wrong, missing)


def _shown(stage: Stage, index: int) -> str:
    return f"{stage.names[index]} line {stage.lines[index]}"


def recorded(tool: str, pipeline: Pipeline, source: Path) -> RecordedLineage:
    """Record a pipeline with its lineage."""
    run = record(
        [tool, os.fspath(source), f"--pass-pipeline={pipeline.passes}", "-o", os.devnull],
        source.with_suffix(".adbrec"),
        lineage=True,
    )
    if run.status or run.path is None:
        raise SystemExit(f"{pipeline.name}: the tool ended with status {run.status}")
    return RecordedLineage(open_recording(run.path))


def by_dumps(tool: str, pipeline: Pipeline, source: Path) -> tuple[Score, Score]:
    """Compare the input with the output, by locations alone and by texts too."""
    output = source.with_suffix(".out.mlir")
    flags = [f"--pass-pipeline={pipeline.passes}", "-o", str(output), "--mlir-print-debuginfo"]
    subprocess.run([tool, str(source), *flags], check=True)
    return by_locations_and_by_texts(open_lineage(dumps=[str(source), str(output)]).lineage)


def by_locations_and_by_texts(lineage: Lineage) -> tuple[Score, Score]:
    """Return how right locations alone are, and the lineage of dumps."""
    return score(DumpLineage(lineage.stages, by_text=False)), score(lineage)


HEADER = """\
| pipeline | operations, input | output | plants | locations alone: precision | recall \
| dumps: precision | recall | --exact: precision | recall | with locations: precision | recall |
|---|---|---|---|---|---|---|---|---|---|---|---|"""
LEAST = 0.99  # the recall with locations that is good


class Row(NamedTuple):
    """A row of the table.

    Args:
        text: it.
        faults: what was wrong or missing, with examples.
        is_good: whether the bars are held: precision of --exact 1, recall with locations 0.99.
    """

    text: str
    faults: tuple[str, ...]
    is_good: bool


def measured(tool: str, pipeline: Pipeline, directory: Path, copies: int) -> Row:
    """Measure one pipeline."""
    name = "".join(letter if letter.isalnum() else "_" for letter in pipeline.name)
    source = directory / f"{name}.mlir"
    source.write_text(pipeline.source(copies))
    lineage = recorded(tool, pipeline, source)
    alone, dumps = by_dumps(tool, pipeline, source)
    exact, ours = score(lineage, exact=True), score(lineage)
    first, last = lineage.stages[0], lineage.stages[-1]
    cells = [pipeline.name, f"{len(first):,}", f"{len(last):,}", f"{exact.planted:,}"]
    cells += [part for one in (alone, dumps, exact, ours) for part in figures(one)]
    found = [*faults("exact", exact), *faults("with locations", ours)]
    is_good = exact.precision == 1 and ours.recall >= LEAST
    return Row(f"| {' | '.join(cells)} |", tuple(found), is_good)


def figures(one: Score) -> list[str]:
    """Return precision and recall for the table."""
    return [f"{one.precision:.4f}", f"{one.recall:.4f}"]


def faults(kind: str, one: Score) -> Iterator[str]:
    """Yield what was wrong or missing, with examples."""
    for what, found in (("wrong", one.wrong), ("missing", one.missing)):
        if found:
            some = "; ".join(f"{text} ({count})" for text, count in found.most_common(4))
            yield f"{kind}: {sum(found.values())} {what}: {some}"
