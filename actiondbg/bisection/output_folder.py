"""The folder of a bisection: the state file while it runs, then the report and the reproducer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir

from actiondbg.bisection.bisection import Bisection
from actiondbg.bisection.report.content import Report, ToolFacts, read_text
from actiondbg.bisection.report.html import html_report
from actiondbg.bisection.report.markdown import markdown_report
from actiondbg.bisection.reproducer.reproducer import Reproducer, ReproducerWriter
from actiondbg.bisection.result import Result
from actiondbg.bisection.trials.verdict_store import STATE_FILE, VerdictStore, has_verdicts
from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.support.atomic_directory import replaced_directory
from actiondbg.support.atomic_write import make_free_folder

MARKDOWN, HTML = "report.md", "report.html"


def open_folder(output: Path | None, tool: str, resume: bool) -> Path:
    """Choose and create the folder; it must be empty or not exist, unless it is resumed.

    Args:
        output: the folder; None for ``bisect-TOOL`` here, with a number if that exists.
        tool: the name of the tool.
        resume: choose the folder of an earlier bisection instead: ``output``, or the newest.

    Raises:
        UsageError: the folder is not empty, or there is nothing to resume.
        FileNotWritten: the folder cannot be created.
    """
    if resume:
        return output if output is not None else _newest(tool)
    if output is None:
        return _made(make_free_folder, Path(f"bisect-{tool}"))
    if output.is_dir() and any(output.iterdir()):
        way = "--resume to continue it, or another --output"
        if not (output / STATE_FILE).is_file():
            way = "another --output"
        raise UsageError(f"The folder {str(output)!r} is not empty: use {way}.")
    return _made(_make, output)


def remove_state(folder: Path) -> None:
    """Remove the state file, because the bisection has ended, and the folder if it is empty."""
    (folder / STATE_FILE).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        folder.rmdir()


def remove_if_empty(folder: Path) -> None:
    """Remove a state file without verdicts, and the folder if it is empty."""
    if (folder / STATE_FILE).is_file() and not has_verdicts(folder / STATE_FILE):
        (folder / STATE_FILE).unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()


def write_folder(
    folder: Path, bisection: Bisection, result: Result, verdicts: VerdictStore
) -> Reproducer:
    """Write the report and the reproducer.

    Args:
        folder: replaced as a whole, if it is empty or was written by this function.
        bisection: whose run the ordinals of the culprit's stack belong to.
        result: of the bisection; with a culprit.
        verdicts: on the outputs of the trials.

    Raises:
        UsageError: the result has no culprit.
        FileNotWritten: the folder cannot be written, or has other contents.
    """
    culprit, task = result.culprit, bisection.task
    if culprit is None:
        raise UsageError("The bisection found no culprit, so there is nothing to reproduce.")
    with replaced_directory(folder, MARKDOWN) as making:
        try:
            reproducer = ReproducerWriter(
                result,
                culprit,
                task.oracle,
                making,
                bisection.frozen_tool,
                bisection.setup,
                bisection.tool,
                task.env,
                verdicts,
                task.jobs or 1,
            ).write()
            report = _report(making, reproducer, bisection)
            _write(making / MARKDOWN, markdown_report(report))
            _write(making / HTML, html_report(report))
        except OSError as error:
            raise FileNotWritten(
                f"The report in {str(folder)!r} cannot be written ({error.strerror}): free disk "
                f"space there and in {gettempdir()!r}, and use --resume."
            ) from error
    return reproducer


def _report(folder: Path, reproducer: Reproducer, bisection: Bisection) -> Report:
    tool, oracle = bisection.tool, bisection.task.oracle
    texts = (
        read_text(folder, name, title, name in reproducer.generic)
        for name, title in reproducer.ir.items()
    )
    reports = [
        (MARKDOWN, "this report, to paste into an issue"),
        (HTML, "the same, with colours"),
    ]
    return Report(
        reproducer=replace(reproducer, files=[*reports, *reproducer.files]),
        tool=ToolFacts(tool.path.name, tool.llvm() or "unknown", tool.build_id, tool.assertions()),
        oracle=oracle.as_option(),
        symptom=oracle.symptom,
        texts=[text for text in texts if text is not None],
    )


def _write(file: Path, text: str) -> None:
    # A file name on the command line may hold any bytes.
    file.write_text(text, encoding="utf-8", errors="surrogateescape")


def _made(make: Callable[[Path], Path], folder: Path) -> Path:
    try:
        return make(folder)
    except OSError as error:
        raise FileNotWritten(
            f"The folder {str(folder)!r} cannot be created ({error.strerror}): name another with "
            "--output."
        ) from error


def _make(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _newest(tool: str) -> Path:
    states = [
        *Path().glob(f"bisect-{tool}/{STATE_FILE}"),
        *Path().glob(f"bisect-{tool}-*/{STATE_FILE}"),
    ]
    if not states:
        raise UsageError(
            f"There is no bisection of {tool} to resume here: name its folder with --output, or "
            "leave --resume out."
        )
    return max(states, key=lambda file: file.stat().st_mtime).parent
