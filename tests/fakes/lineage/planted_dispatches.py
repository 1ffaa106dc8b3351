"""Lineages of planted programs that IREE compiles, compared with their truth."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

from actiondbg.commands.cli.lineage_source import opened_lineage
from actiondbg.tool import find_tool
from tests.fakes.lineage.planted_programs import Kind
from tests.fakes.lineage.planted_runs import Measured, scores
from tests.fakes.lineage.planted_truth import Carriers, Locations, located
from tests.paths import ROOT

FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)
PASSES = (
    "iree-dispatch-creation-form-dispatch-regions",
    "iree-codegen-generic-vectorization",
    "iree-codegen-iree-comprehensive-bufferize",
    "iree-convert-to-llvm",
)


def measured_up_to(
    after: str, kind: Kind, seed: int, locations: Locations, folder: Path
) -> Measured:
    """Compile a random program up to a pass, and compare its lineage with its constants.

    Args:
        after: the pass.
        kind: of the program; iree-compile has its own pipeline.
        seed: of the random numbers.
        locations: ``own``: each operation has a line of its own.
        folder: for the files.
    """
    program = kind.program(random.Random(seed), 1)
    source = folder / "planted.mlir"
    source.write_text(located(program.text, locations))
    tool = ("iree-compile", str(source), *FLAGS, "-o", "/dev/null")
    with opened_lineage(tool, (), after=after) as lineage:
        first = lineage.stages[0]
        (last,) = (one for one in lineage.stages if one.name.startswith("after"))
        generic = subprocess.run(
            [find_tool("iree-opt").path, "--mlir-print-op-generic", "-"],
            input=last.text,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        before = _carriers(source.read_text(), program.plants)
        return scores(lineage, first, last, before, _carriers(generic, program.plants))


def _carriers(text: str, plants: int) -> Carriers:
    words = ("-m", "tests.fakes.lineage.planted_truth", "iree.compiler.ir", str(plants))
    done = subprocess.run(
        [sys.executable, *words],
        input=text,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=ROOT,
    )
    names, own, every = json.loads(done.stdout)
    return Carriers(names, *([frozenset[int](one) for one in part] for part in (own, every)))
