"""The lineage that a subcommand reads: of a recording, of a run of a tool, or of dumps."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from actiondbg.commands.cli.line_parser import names_recording
from actiondbg.commands.interpreter.options import Option
from actiondbg.errors import UsageError

if TYPE_CHECKING:
    from actiondbg.lineage.lineage import Lineage

Dumps = Annotated[
    tuple[str, ...],
    Option("--input", "A.mlir", help="a dump of the input, instead of a recording"),
    Option("--then", "B.mlir", help="a later dump; may be repeated"),
]
Remap = Annotated[
    tuple[str, ...],
    Option("--remap", "OLD=NEW", help="name a source file otherwise; may be repeated"),
]


@contextmanager
def opened_lineage(
    words: Sequence[str],
    dumps: Sequence[str],
    *,
    remap: Sequence[str] = (),
    partial: bool = False,
    mlir_include: str | None = None,
) -> Generator[Lineage]:
    """Open a lineage.

    Args:
        words: a recording, or a tool with its arguments; empty if, and only if, there are dumps.
        dumps: files of IR, in the order of the compilation.
        remap: ``OLD=NEW`` names of source files, for dumps.
        partial: use what can be read of a damaged recording or dump.
        mlir_include: the include directory of the tool's MLIR.

    Raises:
        ActiondbgError: the source cannot be read.
    """
    if dumps:
        from actiondbg.lineage.dumps.dump_lineage import DumpLineage
        from actiondbg.lineage.source import open_lineage

        if words:
            raise UsageError(f"{words[0]!r} and dumps are given: choose one of them.")
        opened = open_lineage(dumps=dumps, remap=remap, partial=partial)
        for note in opened.notes:
            print(f"actiondbg: {note}", file=sys.stderr)
        if len(dumps) == 1:
            raise UsageError("A later dump is missing: give one with --then B.mlir.")
        if isinstance(opened.lineage, DumpLineage):
            opened.lineage.check_order()
        yield opened.lineage
        return
    if remap:
        raise UsageError("--remap is for dumps: a recording knows its operations.")
    from actiondbg.commands.cli.recording_source import open_source
    from actiondbg.lineage.recorded.lineage import RecordedLineage

    with open_source(
        words,
        "trace",
        partial=partial,
        mlir_include=mlir_include,
        lineage=True,
        stdout=os.devnull,
    ) as source:
        if names_recording(words) and source.recording.cut is not None:
            print(f"actiondbg: {source.recording.cut}", file=sys.stderr)
        yield RecordedLineage(source.recording)
