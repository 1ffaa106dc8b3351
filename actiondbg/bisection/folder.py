"""The folder of a bisection: what is known while it runs, then the report and the reproducer."""

from __future__ import annotations

import contextlib
from pathlib import Path

from actiondbg.bisection.state import STATE, is_anything_known
from actiondbg.errors import FileNotWritten, UsageError


def open_folder(output: Path | None, tool: str, resume: bool) -> Path:
    """Choose the folder, and make it; one in which there is something is not written to.

    Args:
        output: its name; None for ``bisect-TOOL`` here, with a number if there is one already.
        tool: the name of the tool.
        resume: take the one of an earlier bisection instead; the newest, if it is not named.

    Raises:
        UsageError: there is something in it; or nothing to resume.
        FileNotWritten: it cannot be made.
    """
    if resume:
        return output if output is not None else _newest(tool)
    if output is None:
        output = _unused(tool)
    elif output.is_dir() and any(output.iterdir()):
        way = "--resume to go on with it, or another --output"
        if not (output / STATE).is_file():
            way = "another --output"
        raise UsageError(f"There is something in the folder {str(output)!r} already: give {way}.")
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileNotWritten(
            f"The folder {str(output)!r} cannot be made ({error.strerror}): name another with "
            "--output."
        ) from error
    return output


def close_folder(folder: Path) -> None:
    """Remove what is known, as the bisection is over, and the folder if nothing else is in it."""
    (folder / STATE).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        folder.rmdir()


def tidy_folder(folder: Path) -> None:
    """Remove a folder in which nothing is known, as the bisection did not come so far."""
    if (folder / STATE).is_file() and not is_anything_known(folder / STATE):
        (folder / STATE).unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()


def _unused(tool: str) -> Path:
    folder, number = Path(f"bisect-{tool}"), 1
    while folder.exists():
        number += 1
        folder = Path(f"bisect-{tool}-{number}")
    return folder


def _newest(tool: str) -> Path:
    states = [*Path().glob(f"bisect-{tool}/{STATE}"), *Path().glob(f"bisect-{tool}-*/{STATE}")]
    if not states:
        raise UsageError(
            f"There is no bisection of {tool} to resume here: name its folder with --output, or "
            "leave --resume out."
        )
    return max(states, key=lambda file: file.stat().st_mtime).parent
