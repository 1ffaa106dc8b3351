"""Reproducers of a pass: a file with IR and a pipeline for the stock tool."""

from __future__ import annotations

import filecmp
import itertools
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import msgspec

from actiondbg import protocol
from actiondbg.analysis.pipeline import is_adaptor
from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.ir.printed import PrintedText
from actiondbg.protocol.tags import PASS_TAG
from actiondbg.support.atomic_write import create_free, numbered, open_whole
from actiondbg.support.output_file import writing

# Options that the tool may need to read its own IR.
_KEPT = (
    "allow-unregistered-dialect",
    "irdl-file",
    "load-dialect-plugin",
    "load-pass-plugin",
)


class Reproducer(msgspec.Struct, kw_only=True, frozen=True):
    """A file that reproduces one pass."""

    path: str  # of the file
    pipeline: str  # the pass, as a textual pipeline from the outermost operation
    # The command line that runs it with the stock tool; empty for a program that reads no file of
    # MLIR, such as Python.
    command: list[str]
    is_new: bool = True  # whether the file was written now; False if an equal one existed


def pass_around(frames: Iterable[protocol.Frame]) -> protocol.Frame:
    """Return the frame of the innermost pass; raises UsageError if no pass runs."""
    for frame in frames:
        if frame.tag == PASS_TAG and not is_adaptor(frame.name):
            return frame
    raise UsageError(
        "There is no pass to reproduce, as none runs here: stop in one, with step or break."
    )


def write_reproducer(
    path: Path, printed: PrintedText, pipeline: str, tool: Path | None, argv: list[str]
) -> Reproducer:
    """Write the file of a reproducer, with the module before the pass.

    Args:
        tool: the stock tool; None for a program that reads no file of MLIR.
        argv: its command line; options that it needs to read the IR are kept.

    Raises:
        FileNotWritten: the file cannot be written.
        UsageError: it is a recording, which stays as it is.

    Source: mlir/lib/Pass/PassCrashRecovery.cpp; the resource is read by --run-reproducer.
    """
    path = Path(os.path.abspath(path))
    with writing(path, "The reproducer"), open_whole(path) as file:
        printed.copy_to(file)
        file.write(_resource(pipeline).encode(errors="surrogateescape"))
    command: list[str] = []
    if tool is not None:
        kept = [word for word in argv[1:] if _is_kept(word)]
        command = [os.fspath(tool), os.fspath(path), "--run-reproducer", *kept]
    return Reproducer(path=os.fspath(path), pipeline=pipeline, command=command)


def keep_in(directory: Path, name: str, file: Path) -> tuple[Path, bool]:
    """Move a file into a directory, which is made, unless an equal one with the same stem is there.

    Returns:
        The path in the directory, and whether the file was moved there: it is gone in any case.

    Raises:
        FileNotWritten: the file cannot be written there.
    """
    stem = re.sub(r"[^\w.-]+", "_", name) or "pass"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        first = directory / f"{stem}.mlir"
        for path in itertools.takewhile(Path.exists, numbered(first)):
            if filecmp.cmp(path, file, shallow=False):
                file.unlink()
                return path, False
        return Path(shutil.move(file, create_free(first))), True
    except OSError as error:
        raise FileNotWritten(
            f"The reproducer cannot be written to the directory {os.fspath(directory)!r} "
            f"({error.strerror}): set another with 'set reproducer-directory'."
        ) from error


def _is_kept(word: str) -> bool:
    return word.startswith("-") and word.lstrip("-").partition("=")[0] in _KEPT


def _resource(pipeline: str) -> str:
    text = pipeline.replace("\\", "\\\\").replace('"', '\\"')
    return f"""
{{-#
  external_resources: {{
    mlir_reproducer: {{
      pipeline: "{text}",
      disable_threading: true,
      verify_each: true
    }}
  }}
#-}}
"""
