"""The merge of suites: the shards of one suite that several machines recorded."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.suite.folder import PART, SuiteFolder
from actiondbg.suite.index import build_index


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
    """Add suites to another one, as its last parts; its index is not written anew.

    Raises:
        FileNotWritten: a file cannot be copied.
    """
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
