"""``actiondbg doctor [options] [TOOL...]``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from actiondbg.commands.cli.line_parser import LineParser, Without, subcommand
from actiondbg.commands.interpreter.options import Options, flag, option, positional
from actiondbg.commands.interpreter.values import seconds
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.doctor.examination import Examined, examine
from actiondbg.doctor.subject import INSTALL_COMMANDS, installed_subjects, subjects_of
from actiondbg.errors import LaunchError

_EPILOG = """\
examples:
  actiondbg doctor
  actiondbg doctor build/bin/foo-opt
  actiondbg doctor --markdown mlir-opt ~/venv/bin/python

Without TOOL, the tools and Python packages of this environment are examined: mlir-opt, flang,
iree-opt, iree-compile, torch-mlir-opt, triton, jaxlib and torch_mlir. A TOOL that is a Python
interpreter stands for those of its environment. Each is started on a small input, to ask the agent
what it can do there.

exit status: 0 all can be debugged, 1 one cannot or none is installed, 2 bad usage. docs/tools.md
explains the output.
"""


class DoctorOptions(Options):
    tools: tuple[str, ...] = positional("TOOL", help="a tool, or the python of an environment")
    static: bool = flag(help="start no tool: look at files only")
    timeout: float = option(
        "SECONDS",
        default=600.0,
        help="end a tool after this time, with the compilation of the agent; 600 by default",
        parse=seconds,
    )
    json: bool = flag(help="print one JSON object")
    markdown: bool = flag(help="print the table of tools by capabilities")
    report: Path | None = option(
        "FILE",
        help="write what an author of actiondbg needs to know about the builds; no IR of yours",
    )
    without: Without = ()


@subcommand("doctor", "[options] [TOOL...]", DoctorOptions, _EPILOG)
def run(parser: LineParser[DoctorOptions], argv: list[str]) -> int:
    """Examine tools: how the agent gets into each, what it can do there, and what is missing."""
    options = parser.read_intermixed(argv)
    if options.json and options.markdown:
        parser.error("--json and --markdown were given: choose one")
    try:
        named = [subject for name in options.tools for subject in subjects_of(name)]
        subjects = named if options.tools else installed_subjects()
    except LaunchError as error:
        parser.error(str(error))
    limit = None if options.static else options.timeout
    examined = (examine(each, limit, options.without) for each in subjects)
    if options.json or options.markdown:
        found = list(examined)
        _print_all(found, options)
    else:
        found = _print_each(examined)
        if not options.tools:
            _print_absent(found)
    if options.report is not None:
        from actiondbg.commands.render.doctor import report_text
        from actiondbg.doctor.build_report import make_report
        from actiondbg.support.output_file import write_file

        write_file(options.report, report_text(make_report(found)))
        print_notice(f"Report: {options.report}. Read it before you send it.")
    return 0 if found and all(each.is_usable for each in found) else 1


def _print_all(found: list[Examined], options: DoctorOptions) -> None:
    if options.markdown:
        from actiondbg.doctor.build_report import markdown_table

        print(markdown_table(found))
    else:
        import msgspec

        bare = [msgspec.structs.replace(each, facts=msgspec.UNSET) for each in found]
        print(msgspec.json.encode({"tools": bare}, enc_hook=str).decode())


def _print_each(examined: Iterable[Examined]) -> list[Examined]:
    """Print tools as they are examined, which takes some seconds each."""
    from actiondbg.commands.render.doctor import examined_text

    found: list[Examined] = []
    for each in examined:
        if found:
            print()
        print(examined_text(each))
        sys.stdout.flush()
        found.append(each)
    return found


def _print_absent(found: list[Examined]) -> None:
    # A distribution's flang has its version in its name.
    names = {each.name.split("-")[0] if "flang" in each.name else each.name for each in found}
    absent = [f"{name} ({how})" for name, how in INSTALL_COMMANDS.items() if name not in names]
    if absent:
        if found:
            print()
        print(f"Not installed: {', '.join(absent)}.")
