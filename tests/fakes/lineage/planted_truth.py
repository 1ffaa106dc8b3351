"""Which operations of a program use which planted constants, followed through values by MLIR.

Nothing is shared with the lineages that are compared with it: the IR is parsed by MLIR's Python
bindings, and constants are followed from operand to operand.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from tests.fakes.lineage.planted_programs import FIRST_PLANT

_BINDINGS = sys.argv[1] if __name__ == "__main__" else "mlir.ir"  # one process has only one
ir: Any = importlib.import_module(_BINDINGS)  # without stubs

Locations = Literal["own", "unknown", "one line"]
_FORWARDING = (
    "broadcast",
    "splat",
    "insertelement",
    "insertvalue",
    "insert",
    "extract",
    "extractvalue",
    "shufflevector",
    "shape_cast",
    "unrealized_conversion_cast",
    "bitcast",
    "cast",
    "reshape",
    "expand_shape",
    "collapse_shape",
    "from_elements",
    "to_elements",
    "interleave",
    "transpose",
)
_BRANCHES = ("cf.br", "cf.cond_br", "llvm.br", "llvm.cond_br")
# Functions and modules hold the operations of others; calls, launches and branches hand constants
# over.
_HOLDERS = (
    "func.func",
    "llvm.func",
    "gpu.func",
    "async.func",
    "gpu.module",
    "builtin.module",
    "gpu.launch_func",
    "func.call",
    *_BRANCHES,
)


class Carriers(NamedTuple):
    """The planted constants of the operations of a program, in the order of its text.

    Args:
        names: of the operations.
        own: the constants that each is or uses.
        all: those of the operations in its regions too; none of functions and modules.
    """

    names: list[str]
    own: list[frozenset[int]]
    all: list[frozenset[int]]


def located(text: str, how: Locations) -> str:
    """Return a program with other source locations."""
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        for line, operation in enumerate(_operations(module.operation), start=1):
            if how == "unknown":
                operation.location = ir.Location.unknown()
            else:
                operation.location = ir.Location.file("planted.py", 1 if how != "own" else line, 1)
        return module.operation.get_asm(enable_debug_info=True)


def carriers(text: str, plants: int) -> Carriers:
    """Return the planted constants of the operations of a program.

    Args:
        text: the IR.
        plants: their number.
    """
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        return _Walk(module.operation, plants).carriers()


class _Walk:
    def __init__(self, root: Any, plants: int) -> None:
        self._operations = list(_operations(root))
        self._plants = plants
        self._globals = {
            _symbol(one): one for one in self._operations if one.name == "memref.global"
        }
        self._kernels = {
            (_symbol(one.parent), _symbol(one)): one.regions[0].blocks[0]
            for one in self._operations
            if one.name == "gpu.func"
        }
        self._entering: dict[int, list[list[Any]]] = {}  # by block, the values of its arguments
        for one in self._operations:
            if one.name in _BRANCHES:
                self._add_branch(one)
            elif one.name == "gpu.launch_func":
                kernel = self._kernels[tuple(ir.SymbolRefAttr(one.attributes["kernel"]).value)]
                given = list(one.operands)[-len(kernel.arguments) :]
                self._entering.setdefault(hash(kernel), []).append(given)

    def carriers(self) -> Carriers:
        own: list[frozenset[int]] = []
        for one in self._operations:
            found = self._attributes(one)
            for operand in one.operands:
                found |= self._of(operand, 12)
            own.append(frozenset() if one.name in _HOLDERS else frozenset(found))
        every: list[set[int]] = [set(one) for one in own]
        at = 0

        def add(operation: Any) -> set[int]:
            nonlocal at
            mine = at
            at += 1
            for inner in _children(operation):
                every[mine] |= add(inner)
            return every[mine]

        add(self._operations[0])
        names = [str(one.name) for one in self._operations]
        return Carriers(
            names,
            own,
            [
                frozenset() if name in _HOLDERS else frozenset(one)
                for name, one in zip(names, every, strict=True)
            ],
        )

    def _of(self, value: Any, depth: int) -> set[int]:
        """Return the constants that a value is, in whatever form."""
        if not depth:
            return set()
        if isinstance(value, ir.BlockArgument):
            # What a loop carries is no constant, whatever it begins with.
            entering = self._entering.get(hash(value.owner), [])
            found = [self._of(one[value.arg_number], depth - 1) for one in entering]
            return set[int].intersection(*found) if found else set[int]()
        operation = value.owner
        name = str(operation.name)
        if name == "memref.get_global":
            return self._of_global(operation)
        last = name.rpartition(".")[2]
        if last in ("constant", "const"):
            return self._attributes(operation)
        if name in ("memref.load", "tensor.extract", "vector.load", "llvm.load"):
            return self._of(operation.operands[0], depth - 1)
        if last in _FORWARDING:
            return set[int]().union(*(self._of(one, depth - 1) for one in operation.operands))
        return set()

    def _of_global(self, operation: Any) -> set[int]:
        name = ir.FlatSymbolRefAttr(operation.attributes["name"]).value
        return self._attributes(self._globals[name]) if name in self._globals else set()

    def _add_branch(self, operation: Any) -> None:
        operands = list(operation.operands)
        successors = list(operation.successors)
        if operation.name.endswith("cond_br"):
            segments = ir.DenseI32ArrayAttr(operation.attributes["operandSegmentSizes"])
            sizes = [int(one) for one in segments]
            if sum(sizes) != len(operands):
                return
            first = sizes[0]
            groups = [operands[first : first + sizes[1]], operands[first + sizes[1] :]]
        else:
            groups = [operands]
        for block, group in zip(successors, groups, strict=True):
            self._entering.setdefault(hash(block), []).append(group)

    def _attributes(self, operation: Any) -> set[int]:
        found: set[int] = set()
        for named in operation.attributes:
            number = _number(operation.attributes[named])
            index = round(number) - FIRST_PLANT if number is not None else -1
            if number is not None and number == round(number) and 0 <= index < self._plants:
                found.add(index)
        return found


def _symbol(operation: Any) -> str:
    return str(ir.StringAttr(operation.attributes["sym_name"]).value)


def _number(attribute: Any) -> float | None:
    if isinstance(attribute, ir.FloatAttr):
        return attribute.value
    if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat:
        return _number(attribute.get_splat_value())
    return None


def _operations(root: Any) -> Iterator[Any]:
    """Iterate over operations in the order of the text."""
    yield root
    for inner in _children(root):
        yield from _operations(inner)


def _children(operation: Any) -> Iterator[Any]:
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation


class Score(NamedTuple):
    """How right a lineage is.

    Args:
        pairs: the pairs of carriers that it claims.
        right: those with a constant in common.
        planted: the uses of planted constants in the output.
        reached: those that were led back to an operation of the input with the constant.
        wrong: the kinds of wrong pairs.
        missing: the kinds of operations that were not led back.
    """

    pairs: int
    right: int
    planted: int
    reached: int
    wrong: Counter[str]
    missing: Counter[str]

    @property
    def precision(self) -> float:
        """The share of right pairs; 1 without any."""
        return self.right / self.pairs if self.pairs else 1.0

    @property
    def recall(self) -> float:
        """The share of uses that were led back; 1 without any."""
        return self.reached / self.planted if self.planted else 1.0

    def __add__(self, other: Any) -> Score:  # pyright: ignore[reportImplicitOverride]
        """Return the score of two lineages."""
        return Score(*(mine + others for mine, others in zip(self, other, strict=True)))


def score(pairs: Sequence[tuple[int, int]], before: Carriers, after: Carriers) -> Score:
    """Compare claimed pairs, as indices in the order of the texts, with the constants."""
    known = frozenset[int]().union(*before.own)
    claimed = right = planted = reached = 0
    wrong: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    led: dict[int, set[int]] = {}
    for at, to in pairs:
        one, other = before.all[at], after.all[to]
        if not one or not other:
            continue
        claimed += 1
        if one & other:
            right += 1
            led.setdefault(to, set()).update(before.own[at])
        else:
            wrong[f"{before.names[at]} -> {after.names[to]}"] += 1
    for to, every in enumerate(after.own):
        plants = every & known
        found = plants & led.get(to, set[int]())
        planted += len(plants)
        reached += len(found)
        if plants != found:
            missing[after.names[to]] += len(plants - found)
    return Score(claimed, right, planted, reached, wrong, missing)


NOTHING = Score(0, 0, 0, 0, Counter(), Counter())


def main() -> None:
    """Print the carriers of the text on standard input, with the bindings of another MLIR."""
    found = carriers(sys.stdin.read(), int(sys.argv[2]))
    print(json.dumps([found.names, *([sorted(one) for one in part] for part in found[1:])]))


if __name__ == "__main__":
    main()
