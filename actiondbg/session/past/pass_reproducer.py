"""A file with which the stock tool does one pass again: IR and a pipeline."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from actiondbg import protocol
from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.ir.printed import PrintedText

# Options of the tool without which it may not read its own IR.
_KEPT = (
    "allow-unregistered-dialect",
    "irdl-file",
    "load-dialect-plugin",
    "load-pass-plugin",
)
_ADAPTOR = "OpToOpPassAdaptor"  # runs the pipeline of nested operations: it is no pass of its own


class Reproducer(msgspec.Struct, kw_only=True, frozen=True):
    """What does one pass again.

    Attributes:
        path: the file that was written.
        pipeline: the pass, as a textual pipeline from the outermost operation.
        command: what runs it with the stock tool.
    """

    path: str
    pipeline: str
    command: list[str]


def pass_around(frames: Iterable[protocol.Frame]) -> int:
    """Return the ordinal of the innermost pass.

    Args:
        frames: innermost first.

    Raises:
        UsageError: no pass runs.
    """
    for frame in frames:
        if frame.tag == "pass-execution" and not frame.name.endswith(_ADAPTOR):
            return frame.ordinal
    raise UsageError(
        "No pass runs here, so there is nothing to reproduce: go into one, with step or break."
    )


def write_reproducer(
    path: Path, printed: PrintedText, pipeline: str, tool: Path, argv: list[str]
) -> Reproducer:
    """Write the file.

    Args:
        path: where.
        printed: the module before the pass.
        pipeline: the pass.
        tool: the stock tool.
        argv: how it was called, for the options without which it does not read the IR.

    Raises:
        FileNotWritten: it cannot be written.

    Source: mlir/lib/Pass/PassCrashRecovery.cpp; the resource is read by --run-reproducer.
    """
    path = Path(os.path.abspath(path))
    try:
        with path.open("w", encoding="utf-8") as file:
            printed.copy_to(file)
            file.write(_resource(pipeline))
    except OSError as error:
        raise FileNotWritten(
            f"The reproducer cannot be written to {os.fspath(path)!r} ({error.strerror}): "
            "name another file."
        ) from error
    kept = [word for word in argv[1:] if _is_kept(word)]
    return Reproducer(
        path=os.fspath(path),
        pipeline=pipeline,
        command=[os.fspath(tool), os.fspath(path), "--run-reproducer", *kept],
    )


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
