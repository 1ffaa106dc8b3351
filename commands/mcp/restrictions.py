"""What a server may run, read and write: named at its start, checked before anything is started."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from actiondbg.commands.interpreter.declaration import Permission as CommandPermission
from actiondbg.commands.interpreter.declaration import Permissions
from actiondbg.errors import LaunchError, UsageError
from actiondbg.tool.identification import locate

Permission = Literal[CommandPermission, "paths", "plugins"]
MEANINGS: dict[Permission, str] = {
    "execute": "the compiled program may run: validate, command and tool, and oracles that run it",
    "native": "the commands native and why-not --native, which start gdb or lldb",
    "paths": "files outside the directory, in the arguments of tools too",
    "plugins": "options of tools that load a library, such as --load-pass-plugin",
    "py": "the command py, which runs Python code",
    "redirection": "> FILE, >> FILE and | COMMAND behind a command",
    "shell": "the command shell, and oracles that are shell commands (test)",
}
PERMISSIONS = tuple(MEANINGS)
_WAY_OUT = "ask the user to start the server with --allow {}"
# Options of LLVM's tools and of clang that load a library into the tool.
_PLUGIN = re.compile(r"--?(load|load-pass-plugin|load-dialect-plugin|f?pass-plugin|fplugin)(=|$)")
# Options whose values are no paths, though they look like paths: --split-input-file='// -----'.
_MARKER = re.compile(r"--?(split-input-file|output-split-marker)(=|$)")
# What separates a path from the text around it, as in --pass-pipeline='any(a{file=/tmp/x,b=1})'.
_BETWEEN = re.compile(r"[\s=,:;{}()\[\]<>\"']+")
_SHORT = re.compile(
    r"-[A-Za-z](?=.)"
)  # an option whose value follows at once, as in -I/usr/include


class Refused(UsageError):
    """What a tool was asked to do needs a permission that the server does not have."""


def _needs(permission: Permission, what: str) -> Refused:
    return Refused(
        f"{what}: not permitted here. {_WAY_OUT[0].upper()}{_WAY_OUT[1:].format(permission)}."
    )


class Restrictions(msgspec.Struct, frozen=True, kw_only=True):
    """The restrictions of a server.

    They keep a model from running and writing what its user did not name. They are no sandbox: a
    program that may run can do what its own options let it do.

    Attributes:
        directory: the working directory of all tools, absolute and without links.
        programs: the tools that may run, and directories whose tools may run; without links.
    """

    directory: str
    programs: tuple[str, ...] = ()
    allowed: tuple[Permission, ...] = ()

    @classmethod
    def of(
        cls, directory: Path, programs: Sequence[str], allowed: Sequence[Permission]
    ) -> Restrictions:
        """Resolve what a command line names.

        Raises:
            LaunchError: there is no such tool.
            UsageError: the working directory is none.
        """
        if not directory.is_dir():
            raise UsageError(f"{str(directory)!r} is not a directory: name one.")
        found = [
            os.path.realpath(each if os.path.isdir(each) else locate(each)) for each in programs
        ]
        return cls(
            directory=os.path.realpath(directory),
            programs=tuple(dict.fromkeys(found)),
            allowed=tuple(allowed),
        )

    @property
    def permissions(self) -> Permissions:
        """The permissions of the shell's commands."""
        return Permissions(self.allowed, _WAY_OUT)

    def need(self, permission: Permission, what: str) -> None:
        """Raise Refused without a permission; ``what`` needs it, the beginning of a sentence."""
        if permission not in self.allowed:
            raise _needs(permission, what)

    def check_command(self, command: Sequence[str]) -> list[str]:
        """Return a command line that may be run.

        Raises:
            Refused: its program, an argument that names a path, or an option is not permitted.
            LaunchError: there is no such program.
        """
        if not command or not command[0]:
            raise UsageError("The command is empty: give the tool and its arguments, one a word.")
        self._check_program(command[0])
        self.check_arguments(command[1:])
        return list(command)

    def check_arguments(self, words: Sequence[str]) -> None:
        """Raise Refused for an argument of a tool that is not permitted."""
        for word in words:
            self._check_argument(word)

    def path(self, name: str) -> str:
        """Return a path that may be read or written: it lies in the directory, links resolved.

        Raises:
            Refused: it lies outside.
        """
        if "paths" not in self.allowed and not self._is_inside(name):
            raise _needs("paths", f"{name!r} is outside {self.directory!r}")
        return name

    def tools(self) -> list[str]:
        """Return the paths of the tools that are named, without those that directories hold."""
        return [each for each in self.programs if not os.path.isdir(each)]

    def _check_program(self, name: str) -> None:
        try:
            given = name if "/" not in name else os.path.join(self.directory, name)
            program = Path(os.path.realpath(locate(given)))
        except LaunchError:
            if any(os.path.basename(each) == name for each in self.programs):
                raise
            program = Path(name)
        permitted = map(Path, self.programs)
        if not any(each == program or each in program.parents for each in permitted):
            named = ", ".join(map(os.path.basename, self.programs)) or "none"
            raise Refused(
                f"{name!r} may not be run here: the tools that the server was started with are "
                f"{named}. Use one of them, or ask the user to name it: actiondbg mcp TOOL..."
            )

    def _check_argument(self, word: str) -> None:
        if _PLUGIN.match(word):
            self.need("plugins", f"{word!r} loads a library into the tool")
        if "paths" in self.allowed or _MARKER.match(word):
            return
        if word.startswith("@"):
            raise _needs("paths", f"{word!r} may name a file of further arguments")
        for path in _paths_in(word):
            if not self._is_inside(path):
                raise _needs("paths", f"{word!r} names a path outside {self.directory!r}")

    def _is_inside(self, name: str) -> bool:
        try:
            path = os.path.realpath(os.path.join(self.directory, os.path.expanduser(name)))
        except ValueError:  # a zero character
            return False
        return path == self.directory or Path(self.directory) in Path(path).parents


def _paths_in(word: str) -> Iterator[str]:
    """Yield all that a tool may take for a path in an argument."""
    yield word
    for part in _BETWEEN.split(word):
        yield part
        if _SHORT.match(part):
            yield part[2:]
        if (start := part.find("/")) > 0 and part.startswith("-"):
            yield part[start:]
