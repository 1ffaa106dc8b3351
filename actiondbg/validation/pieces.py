"""What differs between two versions of a function, cut out as small functions; smaller sizes.

Two values are the same if the same operation computes them of the same values. What remains is cut
at values that both versions have: each remaining pair of values becomes a pair of functions of
these values, which is judged on its own. If all such pairs are equivalent, the versions are. If one
is not, nothing is known: its arguments may have values that they never have in the program.

A function has the meaning that it has with smaller sizes, if nothing in it depends on more than the
equality of sizes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache

from actiondbg.support.alignment import Alignment
from actiondbg.validation.affine import AffineMap
from actiondbg.validation.machine import (
    TERMINATORS,
    Machine,
    Results,
    RuntimeValue,
    handles,
    row_major,
)
from actiondbg.validation.program import (
    MAPS,
    STRUCTURED,
    Attribute,
    Block,
    Dense,
    Function,
    FunctionPair,
    Module,
    OpaqueAttribute,
    Operation,
    Region,
    Value,
    structure,
    walk,
)
from actiondbg.validation.scalar_operations import BY_NAME
from actiondbg.validation.types import INDEX, OpaqueType, ShapedType, Type

_NAME = "cut"
_COPY = "cut.copy"  # an operation of ours: its result is its operand
_MOST_OPERATIONS = 200  # of a cut
_MOST_KNOWN = 2**15  # operations of which something is kept: the cuts of a function ask again
_CONSTANT = re.compile(r"(?:^|\.)(?:const|constant|Constant)(?:\.\w+)?$")
# What has no effects, where it does not touch memory: dialects, and operations of others.
_PURE = re.compile(
    r"(?:arith|math|index|complex|tensor|linalg|vector)\..*"
    r"|affine\.(?:apply|min|max|linearize_index|delinearize_index)"
    r"|(?:ub|llvm\.mlir)\.poison|builtin\.unrealized_conversion_cast"
)
# But these: two frozen values of one poison value may differ.
_EFFECTS = frozenset({"vector.print", "tensor.parallel_insert_slice", "llvm.freeze"})
# Without effects but for undefined behaviour, as divisions are: to run one more, or earlier, is
# another program. The verifier has checked those of static shapes.
_TRAPPING = re.compile(
    r"tensor\.(?:extract|insert|generate|pad|reshape|cast|dim)"
    r"|tensor\.(?:extract_slice|insert_slice|expand_shape|collapse_shape)"
    r"|vector\.(?:transfer_read|transfer_write|gather)"
)


@handles(_COPY)
def _copy(_: Machine, __: Operation, value: RuntimeValue) -> Results:
    return [value]


_BOUND = re.compile(
    r"affine\.(?:apply|min|max)|arith\.(?:addi|subi|(?:min|max)[su]i|(?:floor|ceil)?div[su]i|select)"
)
_PLACE = "linalg.index"  # has another result in each body
# Loops, with how many arguments of their bodies count.
_COUNTING = {
    **dict.fromkeys(("scf.for", "affine.for"), 1),
    **dict.fromkeys(("scf.parallel", "scf.forall", "affine.parallel"), None),
}


class Uncut(Exception):
    """The versions differ in more than values: in effects, control flow, or their order."""


def cuts(
    before: Function, after: Function, depth: int = 0, *, are_paired: bool = True
) -> list[FunctionPair]:
    """Return the pairs of values that decide whether two versions of a function are the same.

    Args:
        before: the function, with a body.
        after: likewise, of the same type.
        depth: how many operations before values that both have are in a cut, too.
        are_paired: whether the same operation of other operands is taken for the same, if the
            operands are: the cuts are smaller, and more in number.

    Raises:
        Uncut: they cannot be cut.
    """
    if before.body is None or after.body is None:
        raise Uncut
    comparison = _Comparison(are_paired)
    for function, body in ((before, before.body), (after, after.body)):
        comparison.small.update(body.blocks[0].arguments)
        comparison.safe.update(_safe_divisors(function))
    comparison.regions(before.body, after.body)
    return [_Extraction(comparison, pair, depth).cut() for pair in comparison.open_pairs()]


Values = tuple[Value, Value]


@dataclass
class _Comparison:
    """Numbers the values of both versions: values with the same number are the same."""

    are_paired: bool  # see ``cuts``
    # Of values, of both versions.
    numbers: dict[Value, int] = field(default_factory=dict[Value, int])
    # The operation of each result.
    makers: dict[Value, Operation] = field(default_factory=dict[Value, Operation])
    # Arguments of the function, and of bodies of loops, that are as large as sizes are.
    small: set[Value] = field(default_factory=set[Value])
    # Constants by which each number may be divided.
    safe: set[Value] = field(default_factory=set[Value])
    _keys: dict[tuple[object, ...], int] = field(default_factory=dict[tuple[object, ...], int])
    _shapes: dict[Operation, str] = field(default_factory=dict[Operation, str])
    _open: list[Values] = field(default_factory=list[Values])
    _next: int = 0

    def open_pairs(self) -> list[Values]:
        """Return the pairs that are not the same for what computes them, each once."""
        seen: dict[tuple[int, int], Values] = {}
        for left, right in self._open:
            key = (self.numbers[left], self.numbers[right])
            if key[0] != key[1]:
                seen.setdefault(key, (left, right))
        return list(seen.values())

    def regions(self, before: Region, after: Region) -> None:
        """Compare two regions, whose blocks correspond."""
        if len(before.blocks) != len(after.blocks):
            raise Uncut
        order = {block: at for at, block in enumerate(before.blocks)}
        order |= {block: at for at, block in enumerate(after.blocks)}
        for left, right in zip(before.blocks, after.blocks, strict=True):
            self._same(left.arguments, right.arguments)
        for left, right in zip(before.blocks, after.blocks, strict=True):
            self._blocks(left, right, order)

    def _same(self, left: Sequence[Value], right: Sequence[Value]) -> None:
        """Give values the same numbers."""
        if [str(each.type) for each in left] != [str(each.type) for each in right]:
            raise Uncut
        for one, other in zip(left, right, strict=True):
            self._next += 1
            self.numbers[one] = self.numbers[other] = self._next

    def _blocks(self, before: Block, after: Block, order: dict[Block, int]) -> None:
        lefts, rights = (
            [each for each in one.operations if not is_free(each, self.safe)]
            for one in (before, after)
        )
        pairs = self._anchor_pairs(lefts, rights)
        places = {each: at for one in (before, after) for at, each in enumerate(one.operations)}
        left_at = right_at = 0
        for left, right in (*pairs, (None, None)):
            left_end = places[left] if left else len(before.operations)
            right_end = places[right] if right else len(after.operations)
            self._stretch(before.operations[left_at:left_end], after.operations[right_at:right_end])
            if left is not None and right is not None:
                self._anchor(left, right, order)
            left_at, right_at = left_end + 1, right_end + 1

    def _anchor_pairs(
        self, before: list[Operation], after: list[Operation]
    ) -> list[tuple[Operation, Operation]]:
        """Pair operations whose order counts; only such that do nothing else may be left out."""
        keys = [[_kind(each) for each in one] for one in (before, after)]
        pairs: list[tuple[Operation, Operation]] = []
        for tag, i1, i2, j1, j2 in Alignment(*keys).get_opcodes():
            if tag == "equal":
                pairs += zip(before[i1:i2], after[j1:j2], strict=True)
            elif not all(map(is_pure, (*before[i1:i2], *after[j1:j2]))):
                raise Uncut
            elif j2 > j1:  # what may trap is where something was that must trap then, too
                self._replaced(before[i1:i2], after[j1:j2])
        return pairs

    def _replaced(self, before: Sequence[Operation], after: Sequence[Operation]) -> None:
        counts = [[len(each.results) for each in one] for one in (before, after)]
        if counts[0] != counts[1] or any(each.name == _PLACE for each in after):
            raise Uncut
        for left, right in zip(before, after, strict=True):
            self._open += zip(left.results, right.results, strict=True)

    def _anchor(self, left: Operation, right: Operation, order: dict[Block, int]) -> None:
        """Compare two operations with effects: the operands must be the same, then all is."""
        successors = [[order.get(each, -1) for each in one.successors] for one in (left, right)]
        if successors[0] != successors[1] or len(left.operands) != len(right.operands):
            raise Uncut
        self._open += zip(left.operands, right.operands, strict=True)
        if left.name in _COUNTING:
            for each in (left, right):
                bounds = each.operands[:2] if each.name == "scf.for" else each.operands
                if not all(self._is_bound(value) for value in bounds if value.type == INDEX):
                    continue
                arguments = each.regions[0].blocks[0].arguments
                self.small.update(arguments[: _COUNTING[left.name]])
        for one, other in zip(left.regions, right.regions, strict=True):
            self.regions(one, other)
        if is_pure(left) and left.name != _PLACE:  # it has the same results wherever it is run
            number = self._number(left)
            self._keys[self._key(right)] = number
            self._number(right)
            return
        self._made(left)
        self._made(right)
        self._same(left.results, right.results)

    def is_small(self, value: Value) -> bool:
        """Whether an index is as small as sizes are."""
        maker = self.makers.get(value)
        is_size = maker is not None and maker.name.endswith(".dim")
        return is_size or value in self.small

    def _is_bound(self, value: Value) -> bool:
        """Whether an index is computed of small ones, as bounds of loops over memory are."""
        if self.is_small(value):
            return True
        maker = self.makers.get(value)
        return maker is not None and (
            _CONSTANT.search(maker.name) is not None
            or (
                _BOUND.fullmatch(maker.name) is not None
                and all(self._is_bound(each) for each in maker.operands if each.type == INDEX)
            )
        )

    def _made(self, operation: Operation) -> None:
        for result in operation.results:
            self.makers[result] = operation

    def _stretch(self, before: list[Operation], after: list[Operation]) -> None:
        """Number the results of operations without effects."""
        known = [self._number(each) for each in before]
        others = [self._number(each) for each in after]
        common = set(known) & set(others)
        lefts = [each for each, key in zip(before, known, strict=True) if key not in common]
        rights = [each for each, key in zip(after, others, strict=True) if key not in common]
        pairs = self._alike(lefts, rights) if self.are_paired else []
        if pairs:
            self._pair_up(pairs, (*before, *after))

    def _alike(
        self, lefts: list[Operation], rights: list[Operation]
    ) -> list[tuple[Operation, Operation]]:
        """Pair operations that differ in their operands only."""
        keys = [[_kind(each) + self._shape(each) for each in one] for one in (lefts, rights)]
        alike = ((lefts[at], rights[other]) for at, other in Alignment(*keys).pairs())
        return [
            (left, right)
            for left, right in alike
            if _uses(left) and len(_uses(left)) == len(_uses(right))
        ]

    def _pair_up(
        self, pairs: list[tuple[Operation, Operation]], operations: Sequence[Operation]
    ) -> None:
        """Let operations be the same, as they are if their operands are; number the rest again."""
        shared: dict[Operation, int] = {}
        for left, right in pairs:
            self._open += zip(_uses(left), _uses(right), strict=True)
            shared[left] = shared[right] = self._next + 1
            self._next += len(left.results) or 1
        for operation in operations:
            if operation in shared:
                self._keys[self._key(operation)] = shared[operation]
            self._number(operation)

    def _number(self, operation: Operation) -> int:
        """Number the results of an operation by what computes them; return the first number."""
        self._made(operation)
        key = self._key(operation)
        first = self._keys.get(key)
        if first is None:
            first = self._keys[key] = self._next + 1
            self._next += len(operation.results) or 1
        for at, result in enumerate(operation.results):
            self.numbers[result] = first + at
        return first

    def _key(self, operation: Operation) -> tuple[object, ...]:
        operands = tuple(self._of(value) for value in operation.operands)
        inner = tuple(self._of(value) for value in _captured(operation))
        types = tuple(str(value.type) for value in operation.results)
        return self._shape(operation), operands, inner, types

    def _of(self, value: Value) -> int:
        number = self.numbers.get(value)
        if number is None:  # of a block that comes later
            raise Uncut
        return number

    def _shape(self, operation: Operation) -> str:
        """Return what an operation does, without its operands."""
        found = self._shapes.get(operation)
        if found is None:
            name, attributes = _meaning(operation)
            alone = Operation(name, (), operation.results, attributes, operation.regions)
            found = self._shapes[operation] = structure(alone)
        return found


def _safe_divisors(function: Function) -> Iterator[Value]:
    for each in walk(function.operation):
        value = each.attributes.get("value")
        numbers = value.values if isinstance(value, Dense) else (value,)
        is_safe = all(type(number) is int and number not in (0, -1) for number in numbers)
        if is_safe and _CONSTANT.search(each.name) and not each.operands:
            yield from (result for result in each.results if str(result.type) != "i1")


@lru_cache(_MOST_KNOWN)
def is_pure(operation: Operation) -> bool:
    """Whether an operation does nothing but compute its results of its operands.

    It may have no defined behaviour for some of them.
    """
    if operation.successors or operation.name in TERMINATORS:
        return False
    if _CONSTANT.search(operation.name) and not operation.operands and not operation.regions:
        return True
    is_known = operation.name in BY_NAME or _PURE.fullmatch(operation.name) is not None
    if not is_known or operation.name in _EFFECTS or _touches_memory(operation):
        return False
    return all(
        each is operation or each.name in TERMINATORS or is_pure(each) for each in walk(operation)
    )


def is_free(operation: Operation, safe: Set[Value] = frozenset()) -> bool:
    """Whether it does not matter where, and how often, an operation is run.

    By constants of ``safe``, each number may be divided.
    """
    if not is_pure(operation) or operation.name == _PLACE:
        return False
    return not any(_is_trapping(each, safe) for each in walk(operation))


def _is_trapping(operation: Operation, safe: Set[Value]) -> bool:
    known = BY_NAME.get(operation.name)
    if known is not None:
        return known.name == "ipowi" or (known.is_division and operation.operands[1] not in safe)
    if _TRAPPING.fullmatch(operation.name) is None:
        return False
    return not all(
        isinstance(value.type, ShapedType) and None not in value.type.shape
        for value in (*operation.operands, *operation.results)
    )


def _touches_memory(operation: Operation) -> bool:
    return any(
        (isinstance(value.type, ShapedType) and value.type.kind == "memref")
        or (isinstance(value.type, OpaqueType) and "memref" in value.type.text)
        for value in (*operation.operands, *operation.results)
    )


def _kind(operation: Operation) -> str:
    types = [str(value.type) for value in (*operation.operands, *operation.results)]
    name, attributes = _meaning(operation)
    listed = sorted(attributes.items(), key=lambda item: item[0])
    return f"{name} {types} {listed!r} {len(operation.regions)}"


def _meaning(operation: Operation) -> tuple[str, Mapping[str, Attribute]]:
    """Return a name and attributes that operations have in common if they do the same."""
    if not operation.is_structured or (
        operation.name == STRUCTURED and not _has_usual_loops(operation)
    ):
        return operation.name, operation.attributes
    kept = (MAPS, "operandSegmentSizes")
    found = {name: operation.attributes[name] for name in kept if name in operation.attributes}
    return STRUCTURED, found


def _has_usual_loops(operation: Operation) -> bool:
    """Whether the loops over the outputs are parallel, and no other: so it is by a name."""
    listed, maps = (operation.attributes.get(name) for name in ("iterator_types", MAPS))
    if not isinstance(listed, tuple) or not isinstance(maps, tuple):
        return False
    outputs = maps[-len(operation.segments()[-1]) :]
    places = {
        result.value
        for map in outputs
        if isinstance(map, AffineMap)
        for result in map.results
        if result.kind == "input"
    }
    usual = ["parallel" if at in places else "reduction" for at in range(len(listed))]
    return [f"#linalg.iterator_type<{kind}>" for kind in usual] == [
        each.text if isinstance(each, OpaqueAttribute) else "" for each in listed
    ]


def _uses(operation: Operation) -> tuple[Value, ...]:
    """Return the operands, and the values from outside that the regions use."""
    return (*operation.operands, *_captured(operation))


def _captured(operation: Operation) -> tuple[Value, ...]:
    """Return the values from outside that the regions of an operation use."""
    return _captured_in(operation) if operation.regions else ()


@lru_cache(_MOST_KNOWN)
def _captured_in(operation: Operation) -> tuple[Value, ...]:
    inside: set[Value] = set()
    for each in walk(operation):
        if each is not operation:
            inside.update(each.results)
        for region in each.regions:
            for block in region.blocks:
                inside.update(block.arguments)
    used = [value for each in walk(operation) if each is not operation for value in each.operands]
    return tuple(value for value in used if value not in inside)


@dataclass
class _Extraction:
    """Makes functions of a pair of values; see ``cuts`` for the depth."""

    _comparison: _Comparison
    _pair: Values
    _depth: int

    def cut(self) -> FunctionPair:
        """Return the functions.

        Raises:
            Uncut: they are too large, or have no common values to begin with.
        """
        left, right = self._pair
        if str(left.type) != str(right.type):
            raise Uncut
        numbers = [self._reached(value) for value in self._pair]
        common = numbers[0].keys() & numbers[1].keys()
        bodies = [self._body(value, common) for value in self._pair]
        arguments = {number: values[0] for body in bodies for number, values in body.leaves.items()}
        keys = sorted(arguments)
        types = tuple(arguments[key].type for key in keys)
        before, after = (
            _module(body, keys, arguments, value)
            for body, value in zip(bodies, self._pair, strict=True)
        )
        assert all(each.functions[_NAME].inputs == types for each in (before, after))
        are_small = all(
            self._comparison.is_small(each) for each in arguments.values() if each.type == INDEX
        )
        return FunctionPair(_NAME, before, after, has_small_indices=are_small)

    def _reached(self, value: Value) -> dict[int, Value]:
        """Return the values of which a value is computed, and itself, by their numbers."""
        found: dict[int, Value] = {}
        left = [value]
        while left:
            each = left.pop()
            number = self._comparison.numbers[each]
            if number in found:
                continue
            found[number] = each
            maker = self._comparison.makers.get(each)
            if maker is not None and is_pure(maker):
                left += _uses(maker)
        return found

    def _body(self, root: Value, common: Set[int]) -> _Body:
        """Collect the operations between common values and a value."""
        body = _Body()
        left: list[tuple[Value, int]] = [(root, self._depth)]
        seen: dict[Value, int] = {}
        while left:
            value, depth = left.pop()
            if seen.get(value, -1) >= depth:
                continue
            seen[value] = depth
            number = self._comparison.numbers[value]
            maker = self._comparison.makers.get(value)
            is_common = number in common
            is_constant = maker is not None and not maker.operands and not maker.regions
            inside = maker is not None and is_pure(maker)
            if not inside or (is_common and depth <= 0 and not is_constant):
                body.leaves.setdefault(number, []).append(value)
                continue
            assert maker is not None
            body.operations[maker] = None
            if len(body.operations) > _MOST_OPERATIONS:
                raise Uncut
            rest = depth - 1 if is_common else depth
            left += ((each, rest) for each in _uses(maker))
        made = {result for operation in body.operations for result in operation.results}
        for number, values in list(body.leaves.items()):
            body.leaves[number] = list(dict.fromkeys(each for each in values if each not in made))
            if not body.leaves[number]:  # it was reached on a shorter way, too
                del body.leaves[number]
        return body


@dataclass
class _Body:
    """Operations, in no order, and the values that they begin with, by number: those of a
    number are the same."""

    operations: dict[Operation, None] = field(default_factory=dict[Operation, None])
    leaves: dict[int, list[Value]] = field(default_factory=dict[int, list[Value]])


def _module(body: _Body, keys: Sequence[int], arguments: dict[int, Value], result: Value) -> Module:
    """Return a module with a function of a body."""
    own: list[Value] = []
    copies: list[Operation] = []
    for key in keys:
        first, *others = body.leaves.get(key, [Value(arguments[key].type)])
        own.append(first)
        copies += (Operation(_COPY, (first,), (other,), {}) for other in others)
    block = Block(tuple(own), [*copies, *_sorted(body.operations)])
    block.operations.append(Operation("func.return", (result,), (), {}))
    region = Region((block,))
    operation = Operation("func.func", (), (), {"sym_name": _NAME}, (region,))
    types = tuple(each.type for each in own)
    function = Function(_NAME, types, (result.type,), region, False, operation)
    return Module({_NAME: function}, {})


def _sorted(operations: dict[Operation, None]) -> list[Operation]:
    """Return operations so that each comes after those that compute its operands."""
    made = {result for operation in operations for result in operation.results}
    placed: list[Operation] = []
    known: set[Value] = set()
    left = list(operations)
    while left:
        ready = [
            each
            for each in left
            if all(
                value in known or value not in made for value in (*each.operands, *_captured(each))
            )
        ]
        if not ready:
            raise Uncut
        for each in ready:
            known.update(each.results)
        placed += ready
        left = [each for each in left if each not in set(ready)]
    return placed


# --- smaller sizes ---


# Sizes that differ stay different, in their order, and no one is a multiple of another one.
_SMALL = (2, 3, 5, 7, 11)
# Whose meaning is the same for all sizes, if those of operands and results fit.
_LINALG = re.compile(
    r"linalg\.(?:generic|index|yield|fill|map|reduce|transpose|broadcast|matmul|batch_matmul|matvec"
    r"|vecmat|dot|batch_matvec|elementwise|add|sub|mul|div|exp|log|negf|abs|copy|max|min|select)"
)
_ANY_SIZE = re.compile(
    r"math\..*|tensor\.empty|bufferization\.alloc_tensor|func\.return|cut\.copy"
    r"|scf\.(?:for|yield)|cf\.(?:cond_)?br"
    r"|memref\.(?:alloc|alloca|dealloc|load|store|copy)"
)
_LARGE = 12  # the least size that is worth it
_OUTPUT_SHAPE = "static_output_shape"
_RESHAPES = ("tensor.expand_shape", "tensor.collapse_shape")
# Of numbers that may be sizes or places.
_ANY_INDEX = re.compile(r"arith\.(?:constant|cmpi|select|(?:min|max)[su]i)")


class NotScaled(Exception):
    """The meaning may depend on the sizes."""


def scaled(pair: FunctionPair) -> FunctionPair:
    """Return a function that calls no other with smaller sizes.

    Raises:
        NotScaled: an operation may depend on its sizes, or none is large.
    """
    functions = (pair.source, pair.target)
    sizes = _Sizes(functions)
    made = (_Copy(sizes).function(function) for function in functions)
    before, after = (Module({pair.symbol: each}, {}) for each in made)
    return FunctionPair(pair.symbol, before, after)


class _Sizes:
    """The small size that stands for each size of functions.

    Raises:
        NotScaled: an operation may depend on its sizes, or none is large.
    """

    def __init__(self, functions: Sequence[Function]) -> None:
        types = {kind for each in functions for kind in _types(each.operation)}
        shaped = [each for each in types if isinstance(each, ShapedType)]
        sizes = {size for each in shaped for size in each.shape} - {0, 1}
        known = [each for each in sizes if each is not None]
        if len(known) < len(sizes) or len(known) > len(_SMALL) or max(known, default=0) < _LARGE:
            raise NotScaled
        self._small = {0: 0, 1: 1, **dict(zip(sorted(known), _SMALL, strict=False))}
        for function in functions:
            for operation in walk(function.operation):
                if operation is not function.operation:
                    self._check(operation)
            _check_indices(function)

    def of(self, size: int) -> int:
        """Return the small size for one; raises NotScaled for another number."""
        if size not in self._small:
            raise NotScaled
        return self._small[size]

    def type(self, type: Type) -> Type:
        """Return a type with small sizes."""
        if not isinstance(type, ShapedType):
            return type
        old = tuple(size or 0 for size in type.shape)
        shape = tuple(map(self.of, old))
        words = "x".join((*map(str, shape), str(type.element)))
        text = f"{type.kind}<{words}>"
        if type.kind != "memref":
            return replace(type, shape=shape, text=text)
        if type.strides != row_major(old) or type.offset != 0:
            raise NotScaled
        return replace(type, shape=shape, strides=row_major(shape), text=text)

    def _check(self, operation: Operation) -> None:
        """Raise NotScaled if the meaning of an operation may depend on sizes."""
        for value in operation.attributes.values():
            parts = value if isinstance(value, tuple) else (value,)
            if not all(_is_any_size(part) for part in parts):
                raise NotScaled
        if operation.name in _RESHAPES:
            _check_reshape(operation)
        elif _LINALG.fullmatch(operation.name):
            for region in operation.regions:
                for block in region.blocks:
                    for inner in block.operations:
                        _check_inner(inner)
        elif not operation.name.startswith("arith.") and not _ANY_SIZE.fullmatch(operation.name):
            raise NotScaled


def _types(operation: Operation) -> Iterator[Type]:
    """Yield the types of the values in an operation."""
    for each in walk(operation):
        yield from (value.type for value in each.results)
        for region in each.regions:
            for block in region.blocks:
                yield from (value.type for value in block.arguments)


def _is_any_size(attribute: Attribute) -> bool:
    if isinstance(attribute, AffineMap):
        return all(each.kind == "input" for each in attribute.results)
    return not isinstance(attribute, Dense) or attribute.is_splat


def _check_reshape(operation: Operation) -> None:
    """Raise NotScaled unless nothing but dimensions of size 1 come and go."""
    source, result = operation.operands[0].type, operation.results[0].type
    if not isinstance(source, ShapedType) or not isinstance(result, ShapedType):
        raise NotScaled
    large = [[size for size in each.shape if size != 1] for each in (source, result)]
    groups = operation.attributes.get("reassociation")
    shape = max(source.shape, result.shape, key=len)
    if large[0] != large[1] or not isinstance(groups, tuple):
        raise NotScaled
    for group in groups:
        if not isinstance(group, tuple):
            raise NotScaled
        if sum(isinstance(at, int) and shape[at] != 1 for at in group) > 1:
            raise NotScaled


def _check_inner(operation: Operation) -> None:
    if operation.name == "linalg.index" or operation.regions:
        raise NotScaled
    if any(isinstance(value.type, ShapedType) for value in operation.operands):
        raise NotScaled


def _check_indices(function: Function) -> None:
    """Raise NotScaled if places are computed but by counting."""
    ones: set[Value] = set()
    for operation in walk(function.operation):
        values = (*operation.operands, *operation.results)
        if not operation.name.startswith(("arith.", "math.")) or all(
            value.type != INDEX for value in values
        ):
            continue
        if operation.attributes.get("value") == 1:
            ones.update(operation.results)
        is_count = operation.name == "arith.addi" and not ones.isdisjoint(operation.operands)
        if not is_count and not _ANY_INDEX.fullmatch(operation.name):
            raise NotScaled


class _Copy:
    """Copies a function with other types."""

    def __init__(self, sizes: _Sizes) -> None:
        self._sizes = sizes
        self._values: dict[Value, Value] = {}
        self._blocks: dict[Block, Block] = {}

    def function(self, function: Function) -> Function:
        assert function.body is not None
        body = self._region(function.body)
        operation = Operation("func.func", (), (), function.operation.attributes, (body,))
        inputs, results = (
            tuple(map(self._sizes.type, types)) for types in (function.inputs, function.results)
        )
        symbol, is_private = function.symbol, function.is_private
        return Function(symbol, inputs, results, body, is_private, operation)

    def _region(self, region: Region) -> Region:
        for block in region.blocks:
            self._blocks[block] = Block(tuple(map(self._value, block.arguments)))
        for block in region.blocks:
            self._blocks[block].operations += map(self._operation, block.operations)
        return Region(tuple(self._blocks[block] for block in region.blocks))

    def _operation(self, operation: Operation) -> Operation:
        attributes = {name: self._attribute(value) for name, value in operation.attributes.items()}
        shape = attributes.get(_OUTPUT_SHAPE)
        if isinstance(shape, tuple):
            attributes[_OUTPUT_SHAPE] = tuple(self._number(each) for each in shape)
        if any(value.type == INDEX for value in operation.results) and "value" in attributes:
            attributes["value"] = self._number(attributes["value"])
        return Operation(
            operation.name,
            tuple(map(self._value, operation.operands)),
            tuple(map(self._value, operation.results)),
            attributes,
            tuple(map(self._region, operation.regions)),
            tuple(self._blocks[each] for each in operation.successors),
        )

    def _number(self, value: Attribute) -> int:
        if not isinstance(value, int):
            raise NotScaled
        return self._sizes.of(value)

    def _attribute(self, value: Attribute) -> Attribute:
        if not isinstance(value, Dense):
            return value
        kind = self._sizes.type(value.type)
        assert isinstance(kind, ShapedType)
        return Dense(kind, value.values)

    def _value(self, value: Value) -> Value:
        found = self._values.get(value)
        if found is None:
            found = self._values[value] = Value(self._sizes.type(value.type))
        return found
