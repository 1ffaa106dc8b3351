"""The validation of a network's passes, as a multiple of its compilation."""

from __future__ import annotations

import json
import lzma
import os
import re
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
_COPIES = 3  # of a network in a module: more than 10,000 changing actions


def measure(tool: str, directory: Path, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the rows: name, figure, bar."""
    for title, name in _NETWORKS.items():
        source = directory / f"{name}.mlir"
        text = lzma.decompress((INPUTS / f"{name}.mlir.xz").read_bytes()).decode()
        copies = 1 if quick else _COPIES
        source.write_text(_several(text, copies))
        pipeline = f"--pass-pipeline=builtin.module({_PASSES})"
        argv = [str(find_tool(tool).path), str(source), pipeline, "-o", os.devnull]
        yield from _network(f"{copies} x {title}", argv, rounds=1 if quick else 3)


def _several(text: str, count: int) -> str:
    """Return a module with several copies of its functions, by other symbols."""
    begin = text.index("{\n", text.index("\nmodule ") + 1) + 2
    end = text.rindex("}")
    body = text[begin:end]
    copies = (re.sub(r"@(\w+)", rf"@\1_copy{at}", body) for at in range(1, count))
    return "".join((text[:end], *copies, text[end:]))


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
        f"record --ir pass of {title}: times the tool ({taken['bare']:.2f} s)",
        f"{taken['record'] / taken['bare']:.1f}",
        "",
    )
    yield (
        f"validate, the ends of {passes} passes of {title}: times the tool",
        f"{taken['validate'] / taken['bare']:.1f}",
        "20",
    )
