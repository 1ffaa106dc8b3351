"""The options that the commands on kernels share, in groups, named as the dispatch profiler's."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Annotated

from actiondbg.commands.cli.line_parser import Quiet
from actiondbg.commands.interpreter.options import Flag, Option, Options
from actiondbg.commands.interpreter.values import boolean, positive

_DEVICES = ("cpu", "cuda", "rocm")
_CORES = os.cpu_count() or 1


def _switch(name: str, help: str, alias: str = "") -> Option:
    """Return an option that is true alone, and takes true or false."""
    return Option(name, "BOOL", help=help, parse=boolean, bare=True, alias=alias)


def _device(text: str) -> str:
    """Parse a device, also by the name of IREE's backend."""
    device = {"llvm-cpu": "cpu"}.get(text, text)
    if device not in _DEVICES:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(_DEVICES)}")
    return device


class FolderOptions(Options):
    """Where kernels are, and which of them are meant."""

    generated_dir: Annotated[
        Path,
        Option(
            "--generated-dir", "DIR", help="the parent of the folder 'generated'; .", parse=Path
        ),
    ] = Path(".")
    operation_kind: Annotated[
        str,
        Option(
            "--operation-kind",
            "KINDS",
            help="kinds of operations, separated by commas; all",
            alias="--op-kind",
        ),
    ] = "all"
    dispatches: Annotated[
        str,
        Option(
            "--dispatches",
            "NAMES",
            help="globs or regular expressions of dispatches or operations, separated by commas",
        ),
    ] = ""
    provider: Annotated[
        str,
        Option(
            "--provider",
            "NAMES",
            help="compilers, separated by commas: mlir, iree, c, or yours as module:Class; mlir",
        ),
    ] = ""


class ProviderOptions(Options):
    """How providers are set up."""

    build_dir: Annotated[
        Path | None,
        Option("--build-dir", "DIR", help="use the tools of this IREE build", parse=Path),
    ] = None
    device: Annotated[
        str,
        Option(
            "--device",
            "DEVICE",
            help="target of iree: cpu, cuda or rocm; cpu",
            parse=_device,
            alias="--iree-hal-target-backends",
        ),
    ] = "cpu"
    cuda_arch: Annotated[
        str,
        Option(
            "--cuda-arch",
            "ARCH",
            help="target architecture of a GPU, such as sm_80 or gfx942",
            alias="--iree-hal-cuda-llvm-target-arch",
        ),
    ] = ""


class OperationOptions(Options):
    """Which operations are meant."""

    problem_m: Annotated[
        str, Option("--problem-m", "SIZES", help="sizes of m: 64, or 64,128, or 64:513:64")
    ] = ""
    problem_n: Annotated[str, Option("--problem-n", "SIZES", help="sizes of n")] = ""
    problem_k: Annotated[str, Option("--problem-k", "SIZES", help="sizes of k")] = ""
    problem: Annotated[
        tuple[str, ...],
        Option("--problem", "FIELD=VALUE", help="another field of the kind, such as stride_h=1,2"),
    ] = ()
    types: Annotated[
        str,
        Option(
            "--types", "TYPES", help="of operands, or operands-result: f32, bf16, i8-i32, f16-f32"
        ),
    ] = ""
    problem_set: Annotated[
        tuple[str, ...],
        Option("--problem-set", "NAME", help="predefined problems, such as resnet50; repeatable"),
    ] = ()
    problems: Annotated[
        Path | None, Option("--problems", "FILE", help="problems in YAML or JSON", parse=Path)
    ] = None
    model: Annotated[
        Path | None,
        Option("--from", "MODEL.mlir", help="each linalg operation of a program", parse=Path),
    ] = None


class ProblemOptions(OperationOptions):
    """Which operations and configurations are generated."""

    default_config: Annotated[
        bool, _switch("--default-config", "add the compiler's own choice to the configurations")
    ] = False
    configurations: Annotated[
        Path | None,
        Option("--configurations", "FILE", help="own configurations, in YAML or JSON", parse=Path),
    ] = None
    pipeline: Annotated[
        tuple[str, ...],
        Option("--pipeline", "PASSES", help="a configuration of mlir: a pipeline; repeatable"),
    ] = ()
    split_k_slices: Annotated[
        str, Option("--split-k-slices", "SIZES", help="split the sums into so many slices")
    ] = ""


class CompileOptions(Options):
    """How kernels are compiled."""

    num_cpu: Annotated[
        int,
        Option("--num-cpu", "N", help=f"compile so many at a time; {_CORES}", parse=positive),
    ] = _CORES
    force_compile: Annotated[
        bool, _switch("--force-compile", "compile again even if up to date")
    ] = False
    dry_run: Annotated[bool, _switch("--dry-run", "print the commands, run none")] = False
    save_cmds: Annotated[
        bool, _switch("--save-cmds", "write commands.sh beside the binaries; true")
    ] = True
    dask: Annotated[
        str | None, Option("--dask", "ADDRESS", help="compile on the workers of a Dask cluster")
    ] = None
    verbose: Annotated[bool, _switch("--verbose", "print each command")] = False


class LimitOptions(Options):
    """The limits of a kernel in its child process."""

    timeout: Annotated[
        int,
        Option("--timeout", "SECONDS", help="time limit of a kernel; 60", parse=positive),
    ] = 60
    memory: Annotated[
        int,
        Option("--memory", "MIB", help="memory limit of a kernel; 8192", parse=positive),
    ] = 8192


class OutputOptions(Options):
    """Where rows are written."""

    output: Annotated[
        tuple[Path, ...],
        Option("--output", "FILE", help="write .csv, .md, .html or .parquet", parse=Path),
    ] = ()
    append: Annotated[bool, _switch("--append", "add the rows to a CSV")] = False
    tags: Annotated[
        str, Option("--tags", "K:V,...", help="leading columns with one value in all rows")
    ] = ""
    json: Annotated[bool, Flag("--json", help="print one JSON object")] = False
    quiet: Quiet = False


class GenerateLine(ProblemOptions, ProviderOptions, FolderOptions):
    """The options of ``kernels generate``."""

    quiet: Quiet = False


class CompileLine(CompileOptions, ProblemOptions, ProviderOptions, FolderOptions):
    """The options of ``kernels compile``; what they name is generated before."""


class VerifyLine(OutputOptions, LimitOptions, CompileLine):
    """The options of ``kernels verify``."""

    verification_providers: Annotated[
        str,
        Option("--verification-providers", "NAMES", help="references, by commas; numpy"),
    ] = "numpy"
    bisect: Annotated[
        bool, _switch("--bisect", "find the action that makes each wrong kernel wrong")
    ] = False


class ProfileLine(VerifyLine):
    """The options of ``kernels profile``."""

    verification_enabled: Annotated[
        bool,
        _switch("--verification-enabled", "verify results; true", alias="--verify"),
    ] = True
    profiling_enabled: Annotated[
        bool, _switch("--profiling-enabled", "measure times; true", alias="--benchmark")
    ] = True
    compile_only: Annotated[bool, _switch("--compile-only", "neither verify nor profile")] = False
    benchmark_repetitions: Annotated[
        int,
        Option("--benchmark-repetitions", "N", help="measure each N times; 5", parse=positive),
    ] = 5
    batch_size: Annotated[
        int | None,
        Option(
            "--batch-size",
            "N",
            help="calls in a repetition; as many as take some milliseconds",
            parse=positive,
            alias="--iree-hal-benchmark-dispatch-repeat-count",
        ),
    ] = None
    events: Annotated[
        str,
        Option(
            "--events",
            "NAMES",
            help="count events of a call: names with commas, or 'default'; none",
        ),
    ] = ""
    remeasure: Annotated[
        bool, Flag("--remeasure", help="measure the peaks of the machine anew")
    ] = False


class RunLine(ProfileLine):
    """The options of ``kernels run``."""
