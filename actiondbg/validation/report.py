"""The files of a culprit: the IR around it, and the counterexample as programs."""

from __future__ import annotations

from pathlib import Path

from actiondbg.errors import ActiondbgError
from actiondbg.support.atomic_write import write_whole
from actiondbg.validation.validation import Validation


def write_report(folder: Path, text: str, found: Validation) -> None:
    """Write the files into a folder, which is made.

    Args:
        folder: new, or empty, or of an earlier report.
        text: of the validation.
        found: what is known.

    Raises:
        ActiondbgError: a file cannot be written.
    """
    files = {"report.txt": f"{text}\n"}
    if found.texts is not None:
        files |= {"before.mlir": found.texts.before, "after.mlir": found.texts.after}
    narrowed, culprit = found.narrowed, found.culprit
    if narrowed is not None:
        head = f"// The smallest program: --pass-pipeline='{narrowed.pipeline}'"
        files["reduced.mlir"] = f"{head}\n\n{narrowed.text}"
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
