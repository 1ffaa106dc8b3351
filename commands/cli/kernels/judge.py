"""``actiondbg kernels judge KERNEL.json OUTPUT``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.commands.cli.kernels.options import LimitOptions
from actiondbg.commands.cli.line_parser import LineParser, subcommand
from actiondbg.commands.interpreter.error_text import message_of
from actiondbg.commands.interpreter.options import positional
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.errors import ActiondbgError, UsageError

if TYPE_CHECKING:
    from actiondbg.bisection.verdict import Judgement

_STATUS = {"good": 0, "bad": 1, "untestable": 125}  # as in git bisect
_CANNOT_JUDGE = 126
_EPILOG = """\
examples:
  actiondbg kernels judge kernel.json after.mlir
  actiondbg bisect --mode minimize --test 'actiondbg kernels judge kernel.json {}' -- \\
      mlir-opt configured.mlir --pass-pipeline=...

KERNEL.json is in the folder of a kernel that was bisected, and in that of its report.

exit status: 0 the kernel is right, 1 it is wrong, 2 bad usage, 125 it cannot be compiled or run,
126 error, such as a missing file.
"""


class JudgeOptions(LimitOptions):
    kernel: Path = positional("KERNEL.json", help="the description of a wrong kernel")
    output: Path = positional("OUTPUT", help="an output of the step that is bisected")


@subcommand("kernels judge", "[options] KERNEL.json OUTPUT", JudgeOptions, _EPILOG)
def run(parser: LineParser[JudgeOptions], argv: list[str]) -> int:
    """Judge whether another output of a bisected step gives a right kernel."""
    options = parser.read(argv)
    try:
        judgement = _judge(options)
    except (ActiondbgError, OSError) as error:
        # Not 1: a bisection must not take it for a wrong kernel.
        print_notice(message_of(error))
        return _CANNOT_JUDGE
    print(f"{judgement.verdict}: {judgement.reason}")
    return _STATUS[judgement.verdict]


def _judge(options: JudgeOptions) -> Judgement:
    from actiondbg.kernels.bisection.oracle import KernelJudge, read_kernel
    from actiondbg.kernels.providers.provider import StepwiseProvider
    from actiondbg.kernels.providers.registry import make_provider
    from actiondbg.kernels.sweep.settings import SweepSettings
    from actiondbg.kernels.sweep.sweep import make_stages
    from actiondbg.support.scratch_directory import scratch_directory

    kernel = read_kernel(options.kernel)
    if not options.output.is_file():
        raise UsageError(f"There is no file {str(options.output)!r} to judge.")
    provider = make_provider(kernel.dispatch.configuration.provider)
    if not isinstance(provider, StepwiseProvider):
        raise UsageError(f"Kernels of the provider {provider.name} cannot be judged by a step.")
    with scratch_directory("kernel") as folder:
        settings = SweepSettings(
            folder,
            jobs=1,
            run_seconds=options.timeout,
            memory=options.memory,
            limit=kernel.limit,
        )
        stages = make_stages(settings, {provider.name: provider})
        assert stages.verifier is not None  # the settings ask for it
        return KernelJudge(kernel, provider, stages.verifier).judge(options.output)
