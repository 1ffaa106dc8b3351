"""The commands of tests/inputs/tools, which the files state as upstream's tests do.

A line ``// RUN: mlir-opt %s --cse`` of a file is a command on that file; ``%t`` is a file that it
writes. No shell runs it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.paths import INPUTS
from tests.tool.targets.targets import Target

_RUN = re.compile(r"^(?://|#) RUN: (.*)$", re.MULTILINE)
OUTPUT = "output"


@dataclass(frozen=True)
class Command:
    """A command of a target.

    Args:
        target: the compiler that runs it.
        source: the file that it is about.
        words: the words of its RUN line.
    """

    target: Target
    source: Path
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its name among the tests."""
        flags = " ".join(word.lstrip("-") for word in self.words if "%" not in word)
        return f"{self.target.name}-{self.source.stem}-{flags.split(' ', 1)[-1][:30]}"

    @property
    def argv(self) -> list[str]:
        """The command line, for a working directory in which it writes its outputs."""
        program, *words = self.words
        places = {"%s": str(self.source), "%t": OUTPUT}
        words = [places.get(word, word) for word in words]
        return [str(self.target.programs[program]), *words, *self.target.options]


def commands(target: Target) -> list[Command]:
    """Return the commands of a target, from the files of its folder."""
    return [
        Command(target, path, tuple(line.split()))
        for path in sorted((INPUTS / "tools" / target.inputs).glob("*.*"))
        for line in _RUN.findall(path.read_text())
    ]
