"""``actiondbg kernels``: the list of its commands."""

from __future__ import annotations

from actiondbg.commands.cli.line_parser import LineParser, group_epilog, run_group, subcommand
from actiondbg.commands.interpreter.options import NoOptions

COMMANDS = {  # in the order of use, with what they do
    "generate": "write the MLIR of dispatches",
    "compile": "compile what is generated",
    "verify": "compare results with NumPy",
    "profile": "measure times",
    "run": "all of these, and the report",
    "report": "print, convert or compare results",
    "bisect": "find the action that makes a kernel wrong",
    "judge": "judge another output of a step that was bisected",
    "search": "search for the fastest configuration",
    "tune": "search for a whole model, and measure it with IREE's tuning spec",
    "count": "count CPU events for each call of a dispatch function",
}


@subcommand(
    "kernels",
    "COMMAND [options]",
    NoOptions,
    group_epilog("kernels", COMMANDS, "docs/kernels/index.md"),
)
def run(parser: LineParser[NoOptions], argv: list[str]) -> int:
    """Generate, compile, verify, profile, count and bisect single kernels."""
    return run_group(parser, argv, "kernels", COMMANDS)
