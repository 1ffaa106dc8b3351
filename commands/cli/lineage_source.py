"""The lineage that a subcommand reads: of a recording, of dumps, or of tools that it runs."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from actiondbg.commands.cli.line_parser import names_recording
from actiondbg.commands.interpreter.options import option
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.errors import ActiondbgError, UsageError

if TYPE_CHECKING:
    from actiondbg.lineage.lineage import Lineage
    from actiondbg.lineage.stage import Operation, Stage
    from actiondbg.recording.recording import Recording
    from actiondbg.session.runnable_session import End

_MOST_NAMES = 3  # of a notice
_NEXT_TOOL = ["--then", "--"]  # between the tools of a chain
_NO_OUTPUT = (
    "The run has no output: the last stage is the IR at the end of the run, or of its recording."
)
_ONLY_FUNCTIONS = (
    "print the module too, with --mlir-print-ir-before-all or --mlir-print-ir-module-scope"
)

Dumps = Annotated[
    tuple[str, ...],
    option("--input", "A.mlir", help="a dump of the input, instead of a recording"),
    option("--then", "B.mlir", help="a later dump or recording; may be repeated"),
]
Remap = Annotated[
    tuple[str, ...],
    option("--remap", "OLD=NEW", help="name a source file otherwise; may be repeated"),
]


def split_tool(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split words into those before ``--``, and the tool with its arguments."""
    words = list(argv)
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1 :]


def source_words(recording: str | None, tool: Sequence[str]) -> list[str]:
    """Return the words of a source: a recording, or a tool with its arguments.

    Raises:
        UsageError: the recording is none, or both are given.
    """
    if recording is None:
        return list(tool)
    if not names_recording([recording]):
        raise UsageError(
            f"{recording!r} is not a recording: name one, a tool after '--', or dumps with "
            "--input A.mlir --then B.mlir."
        )
    if tool:
        raise UsageError(f"{recording!r} and the tool {tool[0]!r} are given: choose one of them.")
    return [recording]


@contextmanager
def opened_lineage(
    words: Sequence[str],
    dumps: Sequence[str],
    *,
    remap: Sequence[str] = (),
    partial: bool = False,
    after: str | None = None,
    ends_after: bool = False,
) -> Generator[Lineage]:
    """Open a lineage.

    Args:
        words: a recording, or a tool with its arguments, or a chain of tools with ``--then --``
            between them; empty if there are dumps.
        dumps: files of IR, in the order of the compilation; or recordings that follow another.
        remap: ``OLD=NEW`` names of source files, for dumps and imports.
        partial: use what can be read of a damaged recording or dump.
        after: ``#N`` or a pass, after which there is a stage: of a tool beside the output, of a
            recording in its place.
        ends_after: whether the lineage of a tool ends after ``#N``, as the tool may not end.

    Raises:
        ActiondbgError: the source is missing, or cannot be read.
    """
    if is_chain(words, dumps):
        lineage = _of_recordings([*words, *dumps], after, partial)
        _note_end(lineage)
        yield lineage
        return
    if dumps and words:
        raise UsageError(f"{words[0]!r} and dumps are given: choose one of them.")
    if not dumps and not words:
        raise UsageError(
            "The source is missing: name a recording of record --lineage, a tool after '--', or "
            "dumps with --input A.mlir --then B.mlir."
        )
    if dumps:
        yield _of_dumps(dumps, remap, partial)
        return
    if remap and not names_recording(words):
        raise UsageError("--remap is for dumps: a run knows its operations.")
    tools = _chained(words)
    if len(tools) > 1:
        with _of_chain(tools, after) as lineage:
            _note_end(lineage)
            yield lineage
        return
    if after is not None and not names_recording(words):
        from actiondbg.tool.command_line import is_split

        # Answers speak of the parts that are read later, too.
        is_last = ends_after and after.startswith("#") and not is_split(words)
        yield _of_session(list(words), after, "now" if is_last else "end")
        return
    if after is not None and (lineage := _up_to(words[0], after, partial)):
        yield lineage
        return
    with _recorded(words, partial, remap) as lineage:
        yield lineage


def _of_dumps(dumps: Sequence[str], remap: Sequence[str], partial: bool) -> Lineage:
    from actiondbg.lineage.opened_lineage import open_lineage

    if len(dumps) == 1:
        raise UsageError("A later dump is missing: give one with --then B.mlir.")
    found = open_lineage(dumps=dumps, remap=remap, partial=partial)
    for note in found.notes:
        print_notice(note)
    return found.lineage


@contextmanager
def _recorded(words: Sequence[str], partial: bool, remap: Sequence[str]) -> Generator[Lineage]:
    """Open the lineage of a recording or an import, or of a tool that is run."""
    from actiondbg.commands.cli.recorded_tool import open_source
    from actiondbg.lineage.opened_lineage import lineage_of

    with open_source(words, "trace", partial=partial, lineage=True, stdout=os.devnull) as source:
        if names_recording(words) and source.recording.cut is not None:
            print_notice(source.recording.cut)
        if remap and not source.recording.header.imported:
            raise UsageError("--remap is for dumps: a recording knows its operations.")
        lineage = lineage_of(source.recording, remap)
        _note_end(lineage)
        parts = [one.name for one in lineage.stages if one.is_part]
        if parts:
            print_notice(f"Only functions are known {' and '.join(parts)}: {_ONLY_FUNCTIONS}.")
        yield lineage


def _of_session(tool: list[str], after: str, end: End) -> Lineage:
    """Run a tool to a stop after an action, whose IR is a stage then; up to some end of lineage."""
    from actiondbg.analysis.pipeline import find_pass_end
    from actiondbg.lineage.session_lineage import SessionLineage
    from actiondbg.session.session import launch

    with launch(tool, stdout=os.devnull, stderr="inherit") as session:
        digits = after.removeprefix("#")
        if digits.isdecimal():
            session.breakpoints.add(f"#{digits}")
            last = int(digits) if session.run().when != "exit" else None
        else:
            session.start()
            last = find_pass_end(session.past.passes(), after)
        if last is None:
            raise UsageError(f"No action of this run is {after!r}: name a pass or #N.")
        session.timeline.goto(last, "after")
        return SessionLineage(session, end).lineage


def _up_to(recording: str, after: str, partial: bool) -> Lineage | None:
    """Return the lineage of a recorded run up to the end of an action; None for an import."""
    from actiondbg.analysis.pipeline import find_pass_end
    from actiondbg.lineage.session_lineage import SessionLineage
    from actiondbg.recording import open_recording
    from actiondbg.recording.session.recorded_session import RecordedSession

    opened = open_recording(recording, partial=partial)
    if opened.header.imported:
        return None
    with RecordedSession(opened) as session:
        digits = after.removeprefix("#")
        end = int(digits) if digits.isdecimal() else find_pass_end(session.past.passes(), after)
        return SessionLineage(session, end).lineage


def _chained(words: Sequence[str]) -> list[list[str]]:
    tools: list[list[str]] = [[]]
    at = 0
    while at < len(words):
        if list(words[at : at + 2]) == _NEXT_TOOL:
            tools.append([])
            at += 2
            continue
        tools[-1].append(words[at])
        at += 1
    if not all(tools):
        raise UsageError("A tool of the chain is missing: give it after '--then --'.")
    return tools


def _note_end(lineage: Lineage) -> None:
    if lineage.stages[-1].name.partition(" of ")[0] == "end":
        print_notice(_NO_OUTPUT)


def is_chain(words: Sequence[str], then: Sequence[str]) -> bool:
    """Whether a source and what follows ``--then`` are recordings."""
    return bool(then) and all(names_recording([one]) for one in (*words[:1], *then)) and any(words)


def _of_recordings(paths: Sequence[str], after: str | None, partial: bool) -> Lineage:
    from actiondbg.lineage.opened_lineage import chain_of
    from actiondbg.recording import open_recording

    runs = [open_recording(path, partial=partial) for path in paths]
    for one in runs:
        if one.cut is not None:
            print_notice(one.cut)
    return chain_of(runs, [Path(path).name for path in paths], after)


@contextmanager
def _of_chain(tools: Sequence[list[str]], after: str | None) -> Generator[Lineage]:
    """Run tools, each with what the one before it wrote as its standard input."""
    from actiondbg.commands.cli.recorded_tool import open_source
    from actiondbg.lineage.opened_lineage import chain_of
    from actiondbg.support.scratch_directory import scratch_directory

    for tool in tools:
        if names_recording(tool):
            raise ActiondbgError(
                f"{tool[0]!r} is not a tool: a chain runs each of its tools. A chain of "
                "recordings is written A.adbrec --then B.adbrec, without '--'."
            )
    with ExitStack() as stack:
        directory = stack.enter_context(scratch_directory("trace"))
        runs: list[Recording] = []
        given: str | None = None
        for number, tool in enumerate(tools, 1):
            written = str(directory / f"{number}.mlir")
            run = open_source(tool, "trace", lineage=True, stdin=given, stdout=written)
            runs.append(stack.enter_context(run).recording)
            given = written
        names = [f"{Path(tool[0]).name} {number}" for number, tool in enumerate(tools, 1)]
        yield chain_of(runs, names, after)


def chosen_operations(lineage: Lineage, stage: Stage, words: Sequence[str]) -> list[Operation]:
    """Return the operations of a stage that words name, each once, in the order of the text.

    Words are FILE:LINE, ``%value``, ``@symbol``, a name, or an operation id such as ``@12``.

    Raises:
        UsageError: a word names no operation.
    """
    from actiondbg.lineage.stage import select

    chosen: set[int] = set()
    for word in words:
        number = word.removeprefix("@")
        if lineage.is_recorded and word != number and number.isdecimal():
            found = stage.of_node(int(number))
            if found is None:
                raise UsageError(f"No operation of the {stage.name} has the id {word}.")
            chosen.add(found.index)
            continue
        printed = _printed(stage, word)
        chosen.update(one.index for one in printed or select(stage, word))
    return [stage[one] for one in sorted(chosen)]


def _printed(stage: Stage, value: str) -> list[Operation]:
    """Return the operations whose result MLIR prints as a value that the text does not have."""
    from actiondbg.lineage.dumps.operation_index import ParsedOperations

    if not value.startswith("%") or re.search(rf"{re.escape(value)}(?![\w$.-])", stage.text):
        return []
    names = ParsedOperations(stage).names
    found = [stage[at] for at, name in enumerate(names) if name == value]
    if found:
        written = ", ".join(one.result for one in found[:_MOST_NAMES])
        print_notice(f"{stage.title} has no {value}: MLIR prints {written} so.")
    return found
