"""Command lines that work in another folder: the files that they name are copied into it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

OUT = "\0out"  # stands in arguments for the file that the tool writes its output to

# Options of the tool without which it does not read or print the same IR in the same way.
_KEPT = (
    "allow-unregistered-dialect",
    "emit-bytecode",
    "irdl-file",
    "load-dialect-plugin",
    "load-pass-plugin",
    "no-implicit-module",
    "verify-each",
    "mlir-print-",
    "mlir-elide-",
    "mlir-use-nameloc-as-prefix",
)
_NOT_KEPT = ("mlir-print-ir-", "mlir-print-stacktrace", "mlir-print-debug-counter")
_TOKEN = re.compile(r"""[^\s=,;|&<>(){}'"`$]+""")
_ENDINGS = (".mlir", ".mlirbc", ".bc", ".fir", ".ll", ".f90", ".F90", ".f")
_LARGEST = 64 << 20  # bytes of a file that is copied; plugins and the like stay where they are
_SCRIPT = 1 << 16  # bytes of a script in which files beside it are looked for
_ELF = b"\x7fELF"


@dataclass
class Copies:
    """The files that are copied, by their names in the folder.

    Args:
        base: the directory that relative paths are of.
        files: name in the folder -> where it is.
    """

    base: Path
    files: dict[str, Path] = field(default_factory=dict[str, Path])

    def add(self, path: Path, name: str | None = None) -> str:
        """Have a file copied; return its name in the folder."""
        known = next((name for name, other in self.files.items() if other == path), None)
        if known is not None:
            return known
        wanted = name or path.name
        stem, ending = os.path.splitext(wanted)
        number = 1
        while wanted in self.files or wanted in _OURS:
            number += 1
            wanted = f"{stem}-{number}{ending}"
        self.files[wanted] = path
        self._add_beside(path)
        return wanted

    def _add_beside(self, script: Path) -> None:
        """Have copied what a script names that lies beside it, such as what it sources."""
        for token in _TOKEN.findall(_script_text(script)):
            name = token.rpartition("/")[2]
            if not name.strip(".") or name in self.files or name in _OURS:
                continue
            beside = script.with_name(name)
            if _is_copied(beside):
                self.files[name] = beside
                self._add_beside(beside)

    def rewrite(self, word: str) -> str:
        """Return a word, or a line of the shell's, with names of files in it made those of copies.

        What cannot be copied becomes an absolute path.
        """
        return _TOKEN.sub(lambda match: self._renamed(match[0]), word)

    def _renamed(self, token: str) -> str:
        if "." not in token and "/" not in token:
            return token
        path = Path(os.path.normpath(self.base / token))
        try:
            exists = path.exists() and path != self.base
            if not exists or token.strip("./") == "":
                return token
            if not _is_copied(path):
                return token if os.path.isabs(token) else os.fspath(path)
        except OSError:
            return token
        return f"./{self.add(path)}" if "/" in token else self.add(path)


# What the reproducer puts into the folder itself.
_OURS = frozenset(
    {
        "after.mlir",
        "before-pass.mlir",
        "before.mlir",
        "expected.txt",
        "input.mlir",
        "report.html",
        "report.md",
        "repro.sh",
        "session.adb",
    }
)


@dataclass(frozen=True)
class Command:
    """The tool's command line as it is in the folder.

    Args:
        args: what follows the tool; OUT stands for the file of the output.
        source: the name of the input; None when none is known.
        piped: whether the input is read from the standard input.
    """

    args: list[str]
    source: str | None
    piped: bool

    @property
    def writes_file(self) -> bool:
        """Whether the output goes to a file that is named, not to the standard output."""
        return OUT in self.args


def make_portable(argv: list[str], copies: Copies, stdin: Path | None) -> Command:
    """Return a command line for the folder.

    Args:
        argv: the tool's command line.
        copies: where its files are noted.
        stdin: what the tool read as its standard input, or None.
    """
    args: list[str] = []
    source: str | None = None
    words = iter(argv[1:])
    for word in words:
        if word in ("-o", "--o"):
            next(words, None)
            args += ["-o", OUT]
        elif word.startswith(("-o=", "--o=")):
            args += ["-o", OUT]
        elif source is None and not word.startswith("-") and _is_source(copies.base / word):
            path = Path(os.path.normpath(copies.base / word))
            source = _add_source(copies, path)
            args.append(source)
        else:
            args.append(copies.rewrite(word))
    if source is None and stdin is not None:
        return Command(args, _add_source(copies, stdin), piped=True)
    return Command(args, source, piped=False)


def with_source(command: Command, source: str, options: Iterable[str]) -> list[str]:
    """Return arguments to run other IR with: the options that reading it needs, and these.

    Args:
        command: what is run on the input.
        source: the name of the IR in the folder.
        options: what follows, such as the pipeline.
    """
    kept = [word for word in command.args if _is_kept(word)]
    out = ["-o", OUT] if command.writes_file else []
    return [source, *kept, *options, *out]


def shown(args: Iterable[str], tool: str = "mlir-opt") -> str:
    """Return a command line for people; its output goes to the standard output."""
    return shlex.join([tool, *("-" if word == OUT else word for word in args)])


def _add_source(copies: Copies, path: Path) -> str:
    ending = path.suffix if path.suffix in _ENDINGS else ".mlir"
    copies.files[f"input{ending}"] = path
    return f"input{ending}"


def _is_source(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a pipeline in a word of its own may be too long for a name
        return False


def _is_copied(path: Path) -> bool:
    if not _is_source(path) or path.stat().st_size > _LARGEST:
        return False
    with path.open("rb") as file:
        return file.read(len(_ELF)) != _ELF and not str(path).startswith(("/usr/", "/bin/", "/dev"))


def _script_text(path: Path) -> str:
    """Return the text of a script; empty for another file."""
    with path.open("rb") as file:
        return file.read(_SCRIPT).decode(errors="replace") if file.read(2) == b"#!" else ""


def _is_kept(word: str) -> bool:
    name = word.lstrip("-").partition("=")[0]
    return word.startswith("-") and name.startswith(_KEPT) and not name.startswith(_NOT_KEPT)
