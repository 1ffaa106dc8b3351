"""The names of tags, patterns, passes, operations and functions of the tool and its input."""

from __future__ import annotations

import contextlib
import os
import re
from functools import lru_cache
from pathlib import Path

from actiondbg import protocol
from actiondbg.breakpoints.spec_kinds import Kind
from actiondbg.errors import ActiondbgError, LaunchError
from actiondbg.ir.source_names import SourceNames
from actiondbg.process.stop import Stop
from actiondbg.protocol.tags import TAGS
from actiondbg.session.breakpoints import AgentBreakpoints
from actiondbg.session.executions import Executions
from actiondbg.tool.command_line import CommandLine, inspect_command_line
from actiondbg.tool.known_names import KINDS, KnownNames, NameKind

_LEARN_SECONDS = 1.0  # names are a convenience: they must not delay the end of a session
STDIN = "<stdin>"  # as MLIR names it in locations


class SessionNames:
    """The names that the tool has dispatched, in this run and in earlier ones, and the input's.

    It is the ``Vocabulary`` of a session's breakpoints.
    """

    def __init__(self, executions: Executions, breakpoints: AgentBreakpoints) -> None:
        self._executions = executions
        self._breakpoints = breakpoints
        self._known: KnownNames | None = None
        self._source: tuple[list[tuple[Path, int, int]], SourceNames] | None = None

    def get(self, kind: Kind) -> list[str]:
        """List names, sorted.

        Args:
            kind: "tag", "pattern", "pass", "op" or "func". The functions are those of the module at
                the stop; without a stop, those in the text of the input.
        """
        if kind == "func":
            if self.is_current:
                return sorted(self._asked(kind))
            return list(_sorted((), self._of_source().functions))
        names = self._of_tool(kind)
        if kind == "op":
            names = _sorted(names, self._of_source().operations)
        if kind == "tag":
            names = _sorted(names, TAGS)
        return list(names)

    def may_have(self, kind: Kind, name: str) -> bool:
        """Whether a name may be among those of a kind, without a search of the input for all."""
        if kind == "func":
            return self.is_current or self._of_source().may_have(name)
        return kind != "op" or self._of_source().may_have(name) or name in self._of_tool(kind)

    def learn(self) -> None:
        """Store the names and the hit counts of a stopped agent, before the tool is ended."""
        if self._executions.state != "stopped":
            return
        with contextlib.suppress(ActiondbgError, TimeoutError):
            execution, known = self._executions.need(), self._load()
            hits = execution.request(protocol.GetHits(), _LEARN_SECONDS).hits
            self._breakpoints.table.count(hits)
            if known is None:
                return
            for kind in KINDS:
                known.add(
                    kind, execution.request(protocol.GetNames(kind=kind), _LEARN_SECONDS).names
                )
            known.save()

    def update(self, stop: Stop) -> Stop:
        """Save the names at the end of the tool."""
        if stop.when == "exit" and self._known is not None:
            self._known.save()
        return stop

    # --- Vocabulary ---

    @property
    def is_current(self) -> bool:
        """Whether the tool can be asked now."""
        return self._executions.state == "stopped"

    @property
    def is_complete(self) -> bool:
        """Whether no further name can turn up: False, as the tool may load more."""
        return False

    def options(self) -> list[str]:
        """Return the words of the command line that may name passes."""
        words: list[str] = []
        for word in self._executions.program.argv[1:]:
            if word.startswith("-"):
                option, _, value = word.lstrip("-").partition("=")
                words += [option, *re.findall(r"[\w-]+", value if "(" in value else "")]
        return words

    def inputs(self) -> list[str]:
        """Return the input files of the command line, as locations name them."""
        line = self._command_line()
        if line.reads_stdin and not line.inputs:
            return [STDIN]
        return [str(each) for each in line.inputs]

    def line_count(self, file: str) -> int | None:
        """Return the number of lines of an input file; None if it cannot be read as text."""
        return self._of_source().line_count(self._folder / file)

    def may_locate(self, path: str) -> bool:
        """Whether a location may name a file that is no input.

        It may in a program with MLIR of its own, and where the input's text names it.
        """
        program = self._executions.program
        try:
            is_tool = not program.is_followed
        except LaunchError:
            return True
        is_text = not self._command_line().reads_stdin
        return not (is_tool and is_text) or self._of_source().may_have(os.path.basename(path))

    # --- helpers ---

    def _of_tool(self, kind: NameKind) -> tuple[str, ...]:
        """Return the names that the tool has dispatched, in this run and in earlier ones."""
        known = self._load()
        if known is None:
            return ()
        if self.is_current:
            known.add(kind, self._asked(kind))
        return known.get(kind)

    def _asked(self, kind: Kind) -> list[str]:
        return self._executions.ask(protocol.GetNames(kind=kind)).names

    def _command_line(self) -> CommandLine:
        program = self._executions.program
        return inspect_command_line(program.argv, program.cwd)

    @property
    def _folder(self) -> Path:
        return self._executions.program.cwd or Path()

    def _of_source(self) -> SourceNames:
        """Return the names in the text of the input, which is read again after a change."""
        files = [self._folder / each for each in self._command_line().inputs]
        stats = [_stamp(each) for each in files]
        if self._source is None or self._source[0] != stats:
            self._source = stats, SourceNames(files)
        return self._source[1]

    def _load(self) -> KnownNames | None:
        if self._known is None:
            try:
                tool = self._executions.program.tool
            except LaunchError:
                return None
            self._known = KnownNames(f"{tool.path}\0{tool.build_id}")
        return self._known


# Of the same sets again and again: each lookup of a name searches some of them.
@lru_cache(maxsize=8)
def _sorted(names: tuple[str, ...], more: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(more.union(names)))


def _stamp(file: Path) -> tuple[Path, int, int]:
    """Return what changes with the content of a file."""
    try:
        found = file.stat()
    except OSError:
        return file, 0, 0
    return file, found.st_mtime_ns, found.st_size
