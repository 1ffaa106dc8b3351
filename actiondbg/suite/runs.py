"""The runs of a suite: what was recorded, what was not, and those of several suites in one."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.suite.folder import PART, SuiteFolder
from actiondbg.suite.index import NO_CONTEXT, build_index, connect, input_files
from actiondbg.suite.processes import SuiteProcess, read_processes
from actiondbg.support.scratch_directory import is_full
from actiondbg.tool.seen_programs import may_run_mlir


class SuiteRun(msgspec.Struct, frozen=True, kw_only=True):
    """A process of a suite."""

    run: int
    tool: str
    test: str | None  # the test that it belongs to; None if nothing shows it
    run_line: int | None  # the line of the RUN line in the test, from 1
    command: str  # the command line, quoted for a shell
    cwd: str
    ended: str  # "exit", "crash", "killed", or "unrecorded"
    status: int | None
    signal: int | None  # the deadly signal
    seconds: float | None  # its wall time; None if its end was not seen
    actions: int
    recording: str | None  # the path of the recording in the folder of the suite
    missing: str | None  # why the recording is missing or incomplete; None if it is complete


class RecordedCommand(NamedTuple):
    """The command of a recorded run, as it can run again."""

    recording: Path  # the path of the recording
    test: str | None  # the test, with the line of its RUN line; None if it is unknown
    argv: tuple[str, ...]  # the command line, with the file of the program first
    cwd: str  # its working directory
    # The file of its standard input; /dev/null if it was none and the command reads other files;
    # None if it seems to read a pipe, or a file that is gone: it cannot run again.
    stdin: str | None


class Overview(NamedTuple):
    """What a suite has."""

    runs: int  # the number of recorded runs
    tests: int  # the number of tests that they belong to
    actions: int
    size: int  # bytes of the recordings
    tools: dict[str, int]  # the number of runs of each tool
    missing: dict[str, int]  # how many runs are not recorded, or not completely, by the reason
    forks: list[str]  # the command lines of processes that were forked and not recorded
    lost: list[str]  # programs that were started without the agent and may run MLIR
    is_full: bool  # whether the disk has no room for more, and processes may be missing

    @property
    def is_incomplete(self) -> bool:
        """Whether something was not recorded that could have been."""
        expected = sum(count for why, count in self.missing.items() if why != NO_CONTEXT)
        return bool(expected or self.forks or self.lost or self.is_full) or not self.runs


def list_runs(folder: SuiteFolder) -> list[SuiteRun]:
    """Return the runs of a suite, in the order of their begin; raises UsageError."""
    database = connect(folder)
    names = SuiteRun.__struct_fields__
    rows = database.execute(f"SELECT {', '.join(names)} FROM runs ORDER BY run").fetchall()
    return [SuiteRun(**dict(zip(names, row, strict=True))) for row in rows]


def recorded_commands(folder: SuiteFolder) -> list[RecordedCommand]:
    """Return the commands of the recorded runs, in the order of their begin; raises UsageError."""
    rows = (
        connect(folder)
        .execute(
            "SELECT recording, concat_ws(':', test, run_line), executable, argv, cwd FROM runs "
            "WHERE recording IS NOT NULL ORDER BY run"
        )
        .fetchall()
    )
    inputs = {each.key: _input_again(each) for each in read_processes(folder).all}
    return [
        RecordedCommand(
            folder.path / recording,
            test or None,
            (executable, *argv[1:]),
            cwd,
            inputs[Path(recording).stem],
        )
        for recording, test, executable, argv, cwd in rows
    ]


def _input_again(process: SuiteProcess) -> str | None:
    if process.input is not None:
        return process.input
    reads_others = process.stdin.startswith("/dev/") or any(input_files(process))
    return os.devnull if reads_others else None


def overview(folder: SuiteFolder) -> Overview:
    """Sum a suite up; raises UsageError."""
    database = connect(folder)
    query = """
        SELECT count(recording), count(DISTINCT test), coalesce(sum(actions), 0)::BIGINT
        FROM runs WHERE recording IS NOT NULL
    """
    [(runs, tests, actions)] = database.execute(query).fetchall()
    tools = database.execute(
        "SELECT tool, count(*) FROM runs WHERE recording IS NOT NULL GROUP BY tool ORDER BY 2 DESC"
    )
    found = tools.fetchall()
    missing = database.execute(
        "SELECT missing, count(*) FROM runs WHERE missing IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1"
    )
    processes = read_processes(folder)
    return Overview(
        runs,
        tests,
        actions,
        sum(file.stat().st_size for file in folder.runs.iterdir()),
        dict(found),
        dict(missing.fetchall()),
        [command for _, command in processes.forks],
        [program for program in processes.lost if may_run_mlir(program)],
        is_full(folder.path),
    )


def merge(sources: Sequence[SuiteFolder], target: SuiteFolder) -> None:
    """Join suites in a new folder; the sources stay as they are.

    Each start of a driver stays a part of its own. A command that several parts ran in the same
    place for the same test counts once, as of the last of them.

    Args:
        sources: the suites, in the order of their parts.
        target: the folder; its recordings are links to those of the sources where that is possible.

    Raises:
        UsageError: a source is no suite, or the target has other contents.
        FileNotWritten: a file cannot be copied; the folder is removed again.
    """
    for source in sources:
        source.check()
        if source.path == target.path:
            raise UsageError(f"{str(target.path)!r} is merged into itself: name a new folder.")
    target.make(resume=False)
    try:
        add_suites(sources, target)
    except FileNotWritten:
        shutil.rmtree(target.path, ignore_errors=True)  # it would be listed as a suite
        raise
    with contextlib.suppress(FileNotWritten, OSError):  # the next command on the suite writes it
        build_index(target)


def add_suites(sources: Sequence[SuiteFolder], target: SuiteFolder) -> None:
    """Add suites to another one as its last parts, without a new index; raises FileNotWritten."""
    try:
        if not target.exists:
            target.describe_all([])
        for source in sources:
            _add_notes(source, target)
            _copy_all(source.runs, target.runs)
            _copy_all(source.patterns, target.patterns)
            parts = [*target.description().commands, *source.description().commands]
            target.describe_all(parts)
    except OSError as error:
        raise FileNotWritten(
            f"{str(target.path)!r} cannot be written ({error.strerror}): free disk space, or "
            "name another folder."
        ) from error


def _add_notes(source: SuiteFolder, target: SuiteFolder) -> None:
    is_first = not target.notes.exists()
    with target.notes.open("ab") as notes:
        if not is_first:
            notes.write(f"\n{PART}\n".encode())
        if source.notes.exists():
            notes.write(source.notes.read_bytes())


def _copy_all(source: Path, target: Path) -> None:
    """Copy the files of a folder that the other one lacks."""
    for file in sorted(source.iterdir()):
        if (target / file.name).exists():
            continue
        try:
            os.link(file, target / file.name)
        except OSError:  # on another file system
            shutil.copyfile(file, target / file.name)
