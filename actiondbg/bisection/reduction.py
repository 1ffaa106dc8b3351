"""Reduce an input, as long as a predicate over files holds.

MLIR's Python bindings remove operations and keep the module valid, so that few attempts fail. Used
results are replaced by an operand of the same type, or by a constant, so that the rest is valid. An
input that the bindings cannot parse (other dialects, Fortran) is reduced by its lines. mlir-reduce
cannot replace this: it removes only direct children of the module, and its test is a script.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.ir.tokens import COMMENT, STRING
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from mlir.ir import Attribute, Block, Module, Operation, Type, Value  # pyright: ignore[reportMissingTypeStubs]


_BINDINGS = "mlir.ir"  # imported when needed: the bindings are optional, and load libMLIR
_CHILDREN, _ALL, _AROUND, _ARGUMENTS, _RESULTS = range(5)


def read_operations(source: bytes) -> Operations | None:
    """Parse a module, text or bytecode; None if the bindings are missing or cannot parse it."""
    try:
        ir: Any = import_module(_BINDINGS)
    except ImportError:
        return None
    context = ir.Context()
    context.allow_unregistered_dialects = True
    context.enable_multithreading(False)
    try:
        return Operations(ir.Module.parse(source, context))
    except (ir.MLIRError, ValueError):
        return None


class Operations:
    """A module.

    The kinds of parts: children of modules; all operations; operations whose body is kept;
    unused arguments of functions; results of functions.
    """

    unit = "operations"
    kinds = 5

    def __init__(self, module: Module) -> None:
        self._ir: Any = import_module(_BINDINGS)
        self._module = module
        self.text = _text_of(module.operation)
        operations = list(_walk(module.operation))
        self.size = len(operations)
        # By kind: the operation's number in the walk, and the number of the argument or result.
        self._parts: dict[int, list[tuple[int, int]]] = {kind: [] for kind in range(self.kinds)}
        for at, op in enumerate(operations):
            self._add_parts(at, op)

    def count(self, kind: int) -> int:
        return len(self._parts[kind])

    def without(self, kind: int, parts: Sequence[int]) -> str | None:
        clone = self._module.operation.clone()
        operations = list(_walk(clone.operation))
        chosen = [self._parts[kind][part] for part in parts]
        try:
            if kind in (_CHILDREN, _ALL):
                self._remove_all(operations, [at for at, _ in chosen])
            else:
                remove = {
                    _AROUND: self._unwrap,
                    _ARGUMENTS: self._remove_argument,
                    _RESULTS: self._remove_result,
                }[kind]
                for at, number in reversed(chosen):
                    remove(operations[at], number)
            return _text_of(clone.operation) if clone.operation.verify() else None
        except self._ir.MLIRError:
            return None

    def reparse(self, text: str) -> Operations | None:
        return read_operations(text.encode())

    def _add_parts(self, at: int, op: Operation) -> None:
        if _is_child(op):
            self._parts[_CHILDREN].append((at, 0))
        if _is_removable(op):
            self._parts[_ALL].append((at, 0))
        if not _is_child(op) and _body(op) is not None:
            self._parts[_AROUND].append((at, 0))
        if op.name == "func.func" and len(op.regions[0].blocks):
            unused = enumerate(op.regions[0].blocks[0].arguments)
            self._parts[_ARGUMENTS] += [(at, number) for number, one in unused if not _is_used(one)]
            results = self._ir.TypeAttr(op.attributes["function_type"]).value.results
            self._parts[_RESULTS] += [(at, number) for number in range(len(results))]

    # --- removing ---

    def _remove_all(self, operations: Sequence[Operation], chosen: Sequence[int]) -> None:
        ends = {at: at + 1 + sum(1 for _ in _walk(operations[at])) for at in chosen}
        for at in reversed(_outermost(chosen, ends)):
            self._remove(operations[at])

    def _remove(self, op: Operation) -> None:
        """Remove an operation, if there are replacements for its used results."""
        used = [result for result in op.results if _is_used(result)]
        replacements = [self._replacement(op, result.type) for result in used]
        if any(other is None for other in replacements):
            return
        for result, other in zip(used, replacements, strict=True):
            result.replace_all_uses_with(other)
        op.erase()

    def _unwrap(self, op: Operation, _: int) -> None:
        """Replace an operation by the operations of its body."""
        body = _body(op)
        if body is None:
            return
        replacements = [self._replacement(op, argument.type) for argument in body.arguments]
        if any(other is None for other in replacements):
            return
        for argument, other in zip(body.arguments, replacements, strict=True):
            argument.replace_all_uses_with(other)
        *inner, last = [each.operation for each in body.operations]
        for each in inner:
            each.move_before(op)
        yielded = list(last.operands)
        for number, result in enumerate(op.results):
            if number < len(yielded) and yielded[number].type == result.type:
                result.replace_all_uses_with(yielded[number])
        self._remove(op)

    def _remove_argument(self, op: Operation, number: int) -> None:
        op.regions[0].blocks[0].erase_argument(number)
        self._change_type(op, "inputs", "arg_attrs", number)

    def _remove_result(self, op: Operation, number: int) -> None:
        ir = self._ir
        returns = [each for each in _walk(op) if each.name == "func.return"]
        for each in returns:
            left = [value for at, value in enumerate(each.operands) if at != number]
            with op.context, ir.Location.unknown():
                ir.Operation.create("func.return", operands=left, ip=ir.InsertionPoint(each))
            each.erase()
        self._change_type(op, "results", "res_attrs", number)

    def _change_type(self, op: Operation, side: str, attributes: str, number: int) -> None:
        """Remove one input or result from a function's type and attributes."""
        ir = self._ir
        with op.context:
            type = ir.TypeAttr(op.attributes["function_type"]).value
            types = {"inputs": list(type.inputs), "results": list(type.results)}
            del types[side][number]
            new = ir.FunctionType.get(types["inputs"], types["results"])
            op.attributes["function_type"] = ir.TypeAttr.get(new)
            if attributes in op.attributes:
                left = list(ir.ArrayAttr(op.attributes[attributes]))
                del left[number]
                op.attributes[attributes] = ir.ArrayAttr.get(left)

    # --- replacements ---

    def _replacement(self, op: Operation, type: Type) -> Value | None:
        """Return a value of a type for the users of an operation, or None."""
        found = next((operand for operand in op.operands if operand.type == type), None)
        if found is not None:
            return found
        ir = self._ir
        with contextlib.suppress(ir.MLIRError, ValueError), op.context, ir.Location.unknown():
            return ir.Operation.create(
                "arith.constant",
                results=[type],
                attributes={"value": self._one(type)},
                ip=ir.InsertionPoint(op),
            ).result
        return None

    def _one(self, type: Type) -> Attribute:
        """Return the constant 1: a divisor or the step of a loop must not be 0."""
        ir = self._ir
        if str(type).startswith("memref<"):  # the verifier takes such a constant, and no pass does
            raise ValueError("Memory is no constant.")
        for value in ("1", "1.0", "true", "dense<1>", "dense<1.0>", "dense<true>"):
            with contextlib.suppress(ir.MLIRError, ValueError):
                attribute = ir.Attribute.parse(value if value == "true" else f"{value} : {type}")
                if attribute.type == type:
                    return attribute
        raise ValueError("No constant of this type is known.")


def _text_of(op: Operation) -> str:
    return str(op.get_asm())


def _walk(op: Operation) -> Iterator[Operation]:
    """Yield the operations in an operation in textual order, without itself."""
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation
                yield from _walk(inner.operation)


def _is_child(op: Operation) -> bool:
    return op.parent is not None and str(op.parent.name).endswith(".module")


def _is_removable(op: Operation) -> bool:
    """Return whether an operation is not the terminator of a block."""
    if _is_child(op) or len(op.results):
        return True
    *_, last = op.block.operations
    return last.operation != op


def _body(op: Operation) -> Block | None:
    """Return the first block with operations before its terminator.

    Returns:
        None if there is none, or if a region has several blocks.
    """
    blocks = [list(region.blocks) for region in op.regions]
    if any(len(each) > 1 for each in blocks):
        return None
    filled = (block for each in blocks for block in each if len(list(block.operations)) > 1)
    return next(filled, None)


def _is_used(value: Value) -> bool:
    return any(True for _ in value.uses)


def _outermost(chosen: Sequence[int], ends: dict[int, int]) -> list[int]:
    result: list[int] = []
    end = 0
    for at in chosen:
        if at >= end:
            result.append(at)
            end = ends[at]
    return result


# --- inputs ---


IsInteresting = Callable[[Path], bool]
_SEPARATOR = "// -----"  # of --split-input-file
_STRING = re.compile(rf"{STRING}|{COMMENT}")


@dataclass(frozen=True)
class Reduced:
    """A reduced input.

    Args:
        path: the smallest interesting input; the original if no smaller one is.
        before: the size of the original, in ``unit``.
        after: the size of the reduced input.
        unit: "operations" or "lines".
        trials: the number of inputs that were tried.
        ended: why the reduction stopped early: "interrupt" or "time"; else empty.
    """

    path: Path
    before: int
    after: int
    unit: str
    trials: int
    ended: str = ""


class Reducible(Protocol):
    """A text from which parts can be removed. Parts are of several kinds, numbered from 0.

    Attributes:
        unit: what ``size`` counts.
        kinds: the number of kinds; larger parts come first.
        text: the whole text.
    """

    unit: str
    kinds: int
    size: int
    text: str

    def count(self, kind: int) -> int:
        """Return the number of parts of a kind."""
        ...

    def without(self, kind: int, parts: Sequence[int]) -> str | None:
        """Return the text without some parts of a kind; None if the rest would be invalid."""
        ...

    def reparse(self, text: str) -> Reducible | None:
        """Parse a text that ``without`` returned."""
        ...


def reduce_input(
    path: Path,
    is_interesting: IsInteresting,
    progress: Callable[[str], None] | None = None,
    *,
    directory: Path,
    seconds: float | None = None,
) -> Reduced:
    """Reduce an input that is interesting.

    Args:
        path: the input; it is not changed.
        is_interesting: the predicate over smaller inputs, files in ``directory``.
        progress: called with a line for each smaller interesting input.
        directory: for the smaller inputs; the smallest is kept there.
        seconds: the time limit; None for no limit.

    Returns:
        The reduced input. A KeyboardInterrupt ends the search and returns the smallest so far.

    Raises:
        UsageError: the input cannot be read.
        FileNotWritten: a smaller input cannot be written.
    """
    try:
        source = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"The input {str(path)!r} cannot be read ({error.strerror}): check the path."
        ) from error
    search = _Search(path, is_interesting, progress, directory, seconds)
    try:
        search.run(source)
    except _TimedOut:
        return search.result("time")
    except KeyboardInterrupt:
        return search.result("interrupt")
    return search.result("")


class _TimedOut(Exception):
    """The time limit is over."""


class _Search:
    def __init__(
        self,
        path: Path,
        is_interesting: IsInteresting,
        progress: Callable[[str], None] | None,
        directory: Path,
        seconds: float | None,
    ) -> None:
        self._path, self._directory = path, directory
        self._is_interesting, self._progress = is_interesting, progress
        self._end = None if seconds is None else time.monotonic() + seconds
        self._verdicts: dict[bytes, bool] = {}  # by a digest of the text
        self._best: Path | None = None
        self._unit, self._before, self._after = "operations", 0, 0

    def run(self, source: bytes) -> None:
        """Reduce by the modules of a split input, then by operations or lines."""
        text = source.decode("utf-8", errors="replace")
        chunks = Chunks(text)
        if chunks.size > 1:
            text = self._reduce(chunks).text
            source = text.encode()
        operations = read_operations(source)
        if operations is not None and self._accepts(operations.text):
            self._measure(operations)
            self._reduce(operations)
        elif "\0" not in text:
            self._measure(TextLines(text))
            self._reduce(TextLines(text))

    def result(self, ended: str) -> Reduced:
        return Reduced(
            path=self._best or self._path,
            before=self._before,
            after=self._after,
            unit=self._unit,
            trials=len(self._verdicts),
            ended=ended,
        )

    def _measure(self, reducible: Reducible) -> None:
        self._unit, self._before, self._after = reducible.unit, reducible.size, reducible.size

    def _reduce(self, reducible: Reducible) -> Reducible:
        """Remove parts until no single part can be removed."""
        smaller = True
        while smaller:
            smaller = False
            for kind in range(reducible.kinds):
                rest = self._reduce_by(reducible, kind)
                if rest is not None:
                    reducible, smaller = rest, True
        return reducible

    def _reduce_by(self, reducible: Reducible, kind: int) -> Reducible | None:
        """Remove chunks of parts from the end, because users come after what they use.

        Returns:
            The rest, or None if nothing could be removed.
        """
        left, removed = list(range(reducible.count(kind))), list[int]()
        found: str | None = None
        size = len(left)
        while size:
            for end in range(len(left), 0, -size):
                chunk = left[max(end - size, 0) : end]
                text = reducible.without(kind, sorted([*removed, *chunk]))
                if text is not None and text != reducible.text and self._accepts(text):
                    del left[max(end - size, 0) : end]
                    removed += chunk
                    found = text
                    self._report(reducible.reparse(text))
            size //= 2
        return None if found is None else reducible.reparse(found)

    def _report(self, smaller: Reducible | None) -> None:
        if smaller is None or smaller.unit != self._unit:
            return
        self._after = smaller.size
        if self._progress is not None:
            self._progress(
                f"{self._after} of {self._before} {self._unit} are left, "
                f"{counted(len(self._verdicts), 'input')} tried"
            )

    def _accepts(self, text: str) -> bool:
        """Return whether a text is interesting, and keep its file if it is."""
        key = hashlib.sha256(text.encode()).digest()
        if key in self._verdicts:
            return self._verdicts[key]
        if self._end is not None and time.monotonic() >= self._end:
            raise _TimedOut
        candidate = self._directory / f"candidate{self._path.suffix}"
        kept = self._directory / f"reduced{self._path.suffix}"
        try:
            candidate.write_text(text, encoding="utf-8")
            self._verdicts[key] = self._is_interesting(candidate)
            if self._verdicts[key]:
                os.replace(candidate, kept)
                self._best = kept
        except OSError as error:
            raise FileNotWritten(
                f"The smaller input cannot be written to {str(candidate)!r} ({error.strerror}): "
                "is there room left on the disk?"
            ) from error
        finally:
            candidate.unlink(missing_ok=True)
        return self._verdicts[key]


# --- parts of a text ---


class Chunks:
    """The modules of an input for --split-input-file.

    Source: mlir/include/mlir/Support/ToolUtilities.h.
    """

    unit = "modules"
    kinds = 1

    def __init__(self, text: str) -> None:
        self._chunks = re.split(rf"(?m)^{_SEPARATOR}.*\n", text)
        self.size = len(self._chunks)
        self.text = f"{_SEPARATOR}\n".join(self._chunks)

    def count(self, kind: int) -> int:
        return self.size

    def without(self, kind: int, parts: Sequence[int]) -> str | None:
        removed = set(parts)
        left = [chunk for at, chunk in enumerate(self._chunks) if at not in removed]
        return f"{_SEPARATOR}\n".join(left) if left else None

    def reparse(self, text: str) -> Chunks:
        return Chunks(text)


class TextLines:
    """Lines, and blocks from a line that opens a brace to the line that closes it.

    The kinds of parts: blocks; lines; the first and the last line of a block.
    """

    unit = "lines"
    kinds = 3

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)
        self._blocks = list(_blocks(self._lines))
        self.size = len(self._lines)
        self.text = text

    def count(self, kind: int) -> int:
        return len(self._lines if kind == 1 else self._blocks)

    def without(self, kind: int, parts: Sequence[int]) -> str | None:
        removed = set(parts)
        if kind == 0:
            removed = {line for part in parts for line in self._blocks[part]}
        elif kind == 2:
            removed = {
                line
                for part in parts
                for line in self._blocks[part][:: len(self._blocks[part]) - 1]
            }
        left = [line for at, line in enumerate(self._lines) if at not in removed]
        return "".join(left) if any(line.strip() for line in left) else None

    def reparse(self, text: str) -> TextLines:
        return TextLines(text)


def _blocks(lines: Sequence[str]) -> Iterable[range]:
    """Yield the blocks, inner ones first."""
    opened: list[int] = []
    for at, line in enumerate(lines):
        for character in _STRING.sub("", line):
            if character == "{":
                opened.append(at)
            elif character == "}" and opened:
                start = opened.pop()
                if start < at:
                    yield range(start, at + 1)
