"""The commands of one compilation."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from actiondbg.kernels.errors import CompileError

LOG = "compile.log"
COMMANDS = "commands.sh"


class CompilationSteps:
    """Runs the commands of one compilation, logs them, and can repeat them from a file.

    Args:
        folder: of the dispatch; the commands run there.
        seconds: the time limit of a command.
        dry_run: prints commands by ``show`` instead of running them.
        show: prints one command, or None.
    """

    def __init__(
        self,
        folder: Path,
        seconds: float = 600.0,
        *,
        dry_run: bool = False,
        show: Callable[[str], None] | None = None,
    ) -> None:
        self.folder = folder
        self.dry_run = dry_run
        self.seconds = seconds
        self._show = show
        self.lines: list[str] = []

    def run(self, name: str, argv: Sequence[str]) -> None:
        """Run a command.

        Args:
            name: of the step, for messages, such as "mlir-translate".
            argv: the command line; its files are relative to the folder, or absolute.

        Raises:
            CompileError: it failed, or ran into the time limit.
        """
        line = shlex.join(argv)
        self.lines.append(line)
        if self._show is not None:
            self._show(line)
        if not self.dry_run:
            self._execute(name, list(argv), line)

    def note(self, line: str) -> None:
        """Add a comment to the saved commands, for a step that is no command."""
        self.lines.append(f"# {line}")

    def save(self) -> None:
        """Write ``commands.sh``, which repeats the compilation."""
        text = "".join(f"{line}\n" for line in self.lines)
        script = self.folder / COMMANDS
        script.write_text(f'#!/bin/sh\nset -e\ncd "$(dirname "$0")"\n{text}')
        script.chmod(0o755)

    def _execute(self, name: str, argv: list[str], line: str) -> None:
        log = self.folder / LOG
        with log.open("ab") as messages:
            messages.write(f"$ {line}\n".encode())
            messages.flush()
            try:
                done = subprocess.run(
                    argv,
                    cwd=self.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=messages,
                    stderr=messages,
                    timeout=self.seconds,
                    check=False,
                )
            except FileNotFoundError as error:
                raise CompileError(f"{name}: {argv[0]} is not installed.") from error
            except subprocess.TimeoutExpired as error:
                raise CompileError(f"{name} took longer than {self.seconds:g} s.") from error
        if done.returncode:
            raise CompileError(_failure(name, done.returncode, log))


def _failure(name: str, status: int, log: Path) -> str:
    """Return the sentence on a failed step, with the first error in the log."""
    how = f"was killed by signal {-status}" if status < 0 else f"failed with exit status {status}"
    lines = log.read_text(errors="replace").splitlines()
    start = max(index for index, line in enumerate(lines) if line.startswith("$ "))
    messages = [line.strip() for line in lines[start + 1 :] if line.strip()]
    errors = [line for line in messages if "error" in line.lower()] or messages
    return f"{name} {how}{f': {errors[0]}' if errors else ''} (see {log})."
