"""The Python shell of ``actiondbg track``: functions over the operations of dumps."""

from __future__ import annotations

import ast
import code
import contextlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from actiondbg.commands import FAILED
from actiondbg.commands.shell.prompt.history_file import HistoryFile, history_file
from actiondbg.errors import ActiondbgError
from actiondbg.lineage.dumps import operation_index
from actiondbg.lineage.dumps.operation_index import (
    IndexedOperation,
    OperationIndex,
    SourceLocation,
    SourceRanges,
    Tracked,
)
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from actiondbg.lineage.dumps.dump_lineage import DumpLineage

Operations = list[IndexedOperation]


def run_shell(lineage: DumpLineage) -> int:
    """Run a Python shell over dumps; return the exit code.

    At a terminal it reads lines until ``exit()`` or the end of input; from a pipe it runs all
    statements, as gdb does: one that fails is reported, and the next one runs.
    """
    names = shell_names([OperationIndex(lineage, stage) for stage in lineage.stages])
    if sys.stdin.isatty():
        stages = ", ".join(
            f"{stage.name} ({counted(len(stage), 'operation')})" for stage in lineage.stages
        )
        way_out = "A Python shell: info lists its functions; exit() or Ctrl-D leaves it."
        _Console(names).interact(f"{stages}\n{way_out}", exitmsg="")
        return 0
    return _run_all(sys.stdin.read(), names)


class Info:
    """A text that is shown by its name alone."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __call__(self) -> None:
        print(self._text)

    def __repr__(self) -> str:
        return self._text


class Helper(Info):
    """``help``: of a function its own text, of everything else Python's."""

    def __call__(self, *about: object) -> None:
        """Print the help of an object; without one, the functions."""
        if not about:
            return super().__call__()
        return help(about[0])


def shell_names(indices: list[OperationIndex]) -> dict[str, Any]:
    """Return what the shell defines, by name; the index of the input comes first."""
    first, last = indices[0], indices[-1] if len(indices) > 1 else None

    def track_back(ops: Tracked) -> Operations:
        """Return the operations of the input that operations of a later stage came from.

        The sources of the operations in their regions are compared too.
        """
        return operation_index.track_ops(ops, first, use_combined_src=True)

    def related(ops: Tracked) -> Operations:
        """Return the operations of the input with the source of others."""
        return operation_index.track_ops(ops, first)

    def show(ops: Tracked) -> None:
        """Print operations."""
        print(operation_index.shown_ops(ops))

    def src(ops: Tracked) -> None:
        """Print the source lines of operations."""
        print(operation_index.shown_source(ops))

    def dump_infos(ops: Tracked, indent: int = 0, content: bool = False) -> None:
        """Print the names and the sources of operations; with content=True the source's text."""
        print(operation_index.described_ops(ops, indent, content))

    functions: list[Callable[..., object]] = [
        track_back,
        related,
        show,
        src,
        dump_infos,
        operation_index.track_ops,
        operation_index.shrink_to_parents,
        operation_index.shrink_to_children,
    ]
    if last is not None:

        def track(ops: Tracked, to: OperationIndex = last) -> Operations:
            """Return the operations of a later stage, by default the last, that others became."""
            return operation_index.track_ops(ops, to)

        functions.insert(0, track)
    text = _info(functions, indices)
    return {
        **{function.__name__: function for function in functions},
        "op_index": first,
        "track_op_index": last,
        "op_indices": indices,
        "SourceRanges": SourceRanges,
        "SourceRange": SourceRanges,  # as in mlir-track-src
        "SourceLocation": SourceLocation,
        "info": Info(text),
        "help": Helper(text),
    }


def _info(functions: list[Callable[..., object]], indices: list[OperationIndex]) -> str:
    lines = ["functions, each with help(NAME):"]
    for function in functions:
        first = (function.__doc__ or "").strip().split("\n")[0]
        lines.append(f"  {function.__name__:18} {first}")
    lines += ["", "stages:", f"  {'op_index':18} {indices[0]!r}"]
    if len(indices) > 1:
        lines.append(f"  {'track_op_index':18} {indices[-1]!r}")
    if len(indices) > 2:
        lines.append(f"  {'op_indices':18} all {len(indices)}, in order")
    lines += [
        "",
        "An index has get_ops_by_name('%0'), get_ops_by_type('linalg.matmul'),",
        "get_ops_by_src_loc('a.mlir:3:5'), get_ops_by_src_range('a.mlir:3:1-9:1') and get_op(ID).",
        "get_info_by_op(OP) takes an mlir.ir.Operation; operations has all by ID.",
        "An operation has op_name, ssa_name, src_rng, unique_id, parent, children, op and dump().",
        "src_rng has start, end, file_path, contains, overlaps, merge, try_merge and get_content.",
    ]
    return "\n".join(lines)


class _Console(code.InteractiveConsole):
    """The shell at a terminal, with a history and completion."""

    def __init__(self, names: dict[str, Any]) -> None:
        super().__init__(names, "<track>")
        self._history = HistoryFile(history_file().with_name("track-history"))
        with contextlib.suppress(ImportError):  # a Python without readline has neither
            import readline
            import rlcompleter

            for line in self._history.load():
                readline.add_history(line)
            readline.set_completer(rlcompleter.Completer(names).complete)
            readline.parse_and_bind("tab: complete")

    def raw_input(self, prompt: str = "") -> str:
        line = super().raw_input(prompt)
        self._history.append(line)
        return line

    def showtraceback(self) -> None:
        error = sys.exc_info()[1]
        if isinstance(error, ActiondbgError):
            self.write(f"{error}\n")
        else:
            super().showtraceback()


def _run_all(source: str, names: dict[str, Any]) -> int:
    """Run statements; the values of expressions are printed, as a shell does.

    Returns:
        The exit code: FAILED if a statement failed, or if the text is no Python, of which nothing
        runs then.
    """
    try:
        statements = ast.parse(source, "<stdin>").body
    except SyntaxError as error:
        print(f"actiondbg: line {error.lineno} is not Python: {error.msg}.", file=sys.stderr)
        return FAILED
    status = 0
    for statement in statements:
        failure = _failure(statement, names)
        if failure is not None:
            sys.stdout.flush()  # where both go to one file, the error follows what is printed
            where = f"line {statement.lineno} of standard input"
            print(f"actiondbg: {where}: {failure}", file=sys.stderr, flush=True)
            status = FAILED
    return status


def _failure(statement: ast.stmt, names: dict[str, Any]) -> str | None:
    compiled = compile(ast.Interactive([statement]), "<stdin>", "single")
    try:
        exec(compiled, names)
    except BrokenPipeError:
        raise
    except ActiondbgError as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None
