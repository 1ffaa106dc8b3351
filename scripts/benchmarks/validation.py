"""The validation of a network's passes, as a multiple of its compilation."""

from __future__ import annotations

import json
import lzma
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from actiondbg.tool import find_tool
from scripts.benchmarks.recording import ACTIONDBG
from scripts.benchmarks.wall_time import beside

INPUTS = Path(__file__).resolve().parents[2] / "tests" / "inputs"
_BUFFERIZE = (
    "one-shot-bufferize{bufferize-function-boundaries"
    " function-boundary-type-conversion=identity-layout-map}"
)
_PASSES = (
    "func.func(linalg-generalize-named-ops,linalg-fuse-elementwise-ops),canonicalize,cse,"
    f"eliminate-empty-tensors,empty-tensor-to-alloc-tensor,{_BUFFERIZE},"
    "func.func(convert-linalg-to-loops),canonicalize,cse,convert-scf-to-cf,"
    "expand-strided-metadata,lower-affine,convert-math-to-llvm,convert-arith-to-llvm"
)
_NETWORKS = {"GPT of 6 layers": "gpt6_fwd.linalg", "ResNet-18": "resnet18_fwd.linalg"}


def measure(tool: str, directory: Path, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the rows: name, figure, bar."""
    for title, name in _NETWORKS.items():
        source = directory / f"{name}.mlir"
        source.write_bytes(lzma.decompress((INPUTS / f"{name}.mlir.xz").read_bytes()))
        pipeline = f"--pass-pipeline=builtin.module({_PASSES})"
        argv = [str(find_tool(tool).path), str(source), pipeline, "-o", os.devnull]
        yield from _network(title, argv, rounds=1 if quick else 3)


def _network(title: str, argv: list[str], rounds: int) -> Iterator[tuple[str, str, str]]:
    found: list[dict[str, list[object]]] = []

    def validate() -> None:
        command = [ACTIONDBG, "validate", "--json", "--budget", "0.1", "--", *argv]
        done = subprocess.run(command, capture_output=True, text=True)
        found.append(json.loads(done.stdout))

    taken = beside(
        rounds,
        lambda: subprocess.run([*argv, "--mlir-disable-threading"], check=True),
        record=lambda: subprocess.run(
            [ACTIONDBG, "record", "-q", "-o", f"{argv[1]}.adbrec", "--ir", "pass", "--", *argv],
            check=True,
        ),
        validate=validate,
    )
    passes = len(found[-1]["passes"])
    yield (
        f"record --ir pass of a {title}: times the tool ({taken['bare']:.2f} s)",
        f"{taken['record'] / taken['bare']:.1f}",
        "",
    )
    yield (
        f"validate, the ends of {passes} passes of a {title}: times the tool",
        f"{taken['validate'] / taken['bare']:.1f}",
        "20",
    )
