"""The options that the commands on kernels share, in groups, named as the dispatch profiler's."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from actiondbg.commands.cli.line_parser import Quiet
from actiondbg.commands.interpreter.options import Options, changed_fields, flag, option
from actiondbg.commands.interpreter.values import boolean, positive
from actiondbg.errors import UsageError

_DEVICES = ("cpu", "cuda", "rocm")
_CORES = os.cpu_count() or 1
# The fields with the provider that uses them.
_PROVIDERS = {"build_dir": "iree", "device": "iree", "cuda_arch": "iree", "pipeline": "mlir"}
# The fields with what uses them.
_VERIFICATION, _PROFILING, _EITHER = (
    "kernels to be verified",
    "kernels to be measured",
    "kernels to run",
)
_STAGES = {
    "verification_providers": _VERIFICATION,
    "bisect": _VERIFICATION,
    "benchmark_repetitions": _PROFILING,
    "batch_size": _PROFILING,
    "remeasure": _PROFILING,
    "events": _PROFILING,
    "timeout": _EITHER,
    "memory": _EITHER,
}


def switch(help: str, *, default: bool = False, alias: str = "") -> Any:
    """Return an option that is true alone, and takes true or false."""
    return option("BOOL", default=default, help=help, parse=boolean, bare=True, alias=alias)


def _device(text: str) -> str:
    """Parse a device, also by the name of IREE's backend."""
    device = {"llvm-cpu": "cpu"}.get(text, text)
    if device not in _DEVICES:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(_DEVICES)}")
    return device


class FolderOptions(Options):
    """Where kernels are, and which of them are meant."""

    generated_dir: Path = option(
        "DIR", default=Path("."), help="the parent of the folder 'generated'; ."
    )
    operation_kind: str = option(
        "KINDS",
        default="all",
        help="kinds of operations, separated by commas; all",
        alias="--op-kind",
        joined=True,
    )
    dispatches: str = option(
        "NAMES",
        default="",
        help="globs or regular expressions of dispatches or operations, separated by commas",
        joined=True,
    )
    provider: str = option(
        "NAMES",
        default="",
        help="compilers, separated by commas: mlir, iree, c, or yours as module:Class; mlir",
        joined=True,
    )


class ProviderOptions(Options):
    """How providers are set up."""

    build_dir: Path | None = option("DIR", help="use the tools of this IREE build")
    device: str = option(
        "DEVICE",
        default="cpu",
        help="target of iree: cpu, cuda or rocm; cpu",
        parse=_device,
        alias="--iree-hal-target-backends",
    )
    cuda_arch: str = option(
        "ARCH",
        default="",
        help="target architecture of a GPU, such as sm_80 or gfx942",
        alias="--iree-hal-cuda-llvm-target-arch",
    )


class OperationOptions(Options):
    """Which operations are meant."""

    problem_m: str = option(
        "SIZES", default="", joined=True, help="sizes of m: 64, or 64,128, or 64:513:64"
    )
    problem_n: str = option("SIZES", default="", help="sizes of n", joined=True)
    problem_k: str = option("SIZES", default="", help="sizes of k", joined=True)
    problem: tuple[str, ...] = option(
        "FIELD=VALUE", help="another field of the kind, such as stride_h=1,2"
    )
    types: str = option(
        "TYPES",
        default="",
        joined=True,
        help="of operands, or operands-result: f32, bf16, i8-i32, f16-f32",
    )
    problem_set: tuple[str, ...] = option(
        "NAME", help="predefined problems, such as resnet50; repeatable"
    )
    problems: Path | None = option("FILE", help="problems in YAML or JSON")
    model: Path | None = option("--from", "MODEL.mlir", help="each linalg operation of a program")


class ProblemOptions(OperationOptions):
    """Which operations and configurations are generated."""

    default_config: bool = switch("add the compiler's own choice to the configurations")
    configurations: Path | None = option("FILE", help="own configurations, in YAML or JSON")
    pipeline: tuple[str, ...] = option(
        "PASSES", help="a configuration of mlir: a pipeline; repeatable"
    )
    split_k_slices: str = option(
        "SIZES", default="", help="split the sums into so many slices", joined=True
    )


class JobOptions(Options):
    """How many kernels are compiled at a time."""

    num_cpu: int = option(
        "N", default=_CORES, help=f"compile so many at a time; {_CORES}", parse=positive
    )


class CompileOptions(JobOptions):
    """How kernels are compiled."""

    force_compile: bool = switch("compile again even if up to date")
    dry_run: bool = switch("print the commands, run none")
    save_cmds: bool = switch("write commands.sh beside the binaries; true", default=True)
    dask: str | None = option("ADDRESS", help="compile on the workers of a Dask cluster")
    verbose: bool = switch("print each command")


class LimitOptions(Options):
    """The limits of a kernel in its child process."""

    timeout: int = option("SECONDS", default=60, help="time limit of a kernel; 60", parse=positive)
    memory: int = option("MIB", default=8192, help="memory limit of a kernel; 8192", parse=positive)


class OutputOptions(Options):
    """Where rows are written."""

    output: tuple[Path, ...] = option("FILE", help="write .csv, .md, .html or .parquet")
    append: bool = switch("add the rows to a CSV")
    tags: str = option(
        "K:V,...", default="", joined=True, help="leading columns with one value in all rows"
    )
    json: bool = flag(help="print one JSON object")
    quiet: Quiet = False


class GenerateLine(ProblemOptions, ProviderOptions, FolderOptions):
    quiet: Quiet = False


class CompileLine(CompileOptions, ProblemOptions, ProviderOptions, FolderOptions):
    """The options of ``kernels compile``; what they name is generated before."""


class VerifyLine(OutputOptions, LimitOptions, CompileLine):
    verification_providers: str = option(
        "NAMES", default="numpy", help="references, by commas; numpy"
    )
    bisect: bool = switch("find the action that makes each wrong kernel wrong")


class ProfileLine(VerifyLine):
    verification_enabled: bool = switch("verify results; true", default=True, alias="--verify")
    profiling_enabled: bool = switch("measure times; true", default=True, alias="--benchmark")
    compile_only: bool = switch("neither verify nor profile")
    benchmark_repetitions: int = option(
        "N", default=5, help="measure each N times; 5", parse=positive
    )
    batch_size: int | None = option(
        "N",
        help="calls in a repetition; as many as take some milliseconds",
        parse=positive,
        alias="--iree-hal-benchmark-dispatch-repeat-count",
    )
    events: str = option(
        "NAMES",
        default="",
        help="count events of a call: names with commas, or 'default'; none",
        joined=True,
    )
    remeasure: bool = flag(help="measure the peaks of the machine anew")


class KernelRunLine(ProfileLine):
    """The options of ``kernels run``."""


def check_used(options: ProviderOptions, providers: Sequence[str]) -> None:
    """Raise UsageError, which names what would use it, if an option is given and not used."""
    for field, needed in _unused(options, providers):
        raise UsageError(f"--{field.replace('_', '-')} is not used: it needs {needed}.")


def _unused(options: ProviderOptions, providers: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield fields that are given and not used, with what would use them."""
    given = changed_fields(options, type(options))
    for field, provider in _PROVIDERS.items():
        if field in given and provider not in providers:
            yield field, f"the provider {provider} (--provider {provider})"
    if not isinstance(options, ProfileLine):
        return
    verifies = options.verification_enabled and not options.compile_only
    profiles = options.profiling_enabled and not options.compile_only
    done = {_VERIFICATION: verifies, _PROFILING: profiles, _EITHER: verifies or profiles}
    for field, needed in _STAGES.items():
        if field in given and not done[needed]:
            yield field, needed
