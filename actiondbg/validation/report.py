"""The files of a culprit: the IR around it, and the counterexample as programs."""

from __future__ import annotations

from pathlib import Path

from actiondbg.errors import ActiondbgError
from actiondbg.support.atomic_write import write_whole
from actiondbg.validation.judgement import Query
from actiondbg.validation.validation import JudgedStep


def write_report(folder: Path, text: str, culprit: JudgedStep | None, texts: Query | None) -> None:
    """Write the files into a folder, which is made.

    Args:
        folder: new, or empty, or of an earlier report.
        text: of the validation.
        culprit: the first different action.
        texts: the IR before and after it.

    Raises:
        ActiondbgError: a file cannot be written.
    """
    files = {"report.txt": f"{text}\n"}
    if texts is not None:
        files |= {"before.mlir": texts.before, "after.mlir": texts.after}
    counterexample = None if culprit is None else culprit.of("different")[0].counterexample
    if counterexample is not None and counterexample.tests is not None:
        before, after = counterexample.tests
        files |= {"counterexample-before.mlir": before, "counterexample-after.mlir": after}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            write_whole(folder / name, content.encode())
    except OSError as error:
        raise ActiondbgError(f"{str(folder)!r} cannot be written: {error.strerror}.") from error
