"""Functions of linalg operations as loop nests in C, such as a user would write."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isinf, isnan, prod

from actiondbg.kernels.errors import Unsupported
from actiondbg.kernels.packages import ir
from actiondbg.kernels.programs.structured_operation import (
    StructuredOperation,
    element_name,
    integer_attribute,
    is_candidate,
    parse_program,
    structured,
    tensor_shape,
)

HEADER = """\
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define EXTREMES(T, NAME) \\
  static inline T maximum_##NAME(T a, T b) { \\
    T larger = a > b || (a == b && !signbit(a)) ? a : b; \\
    return a != a ? a : larger; \\
  } \\
  static inline T minimum_##NAME(T a, T b) { \\
    T smaller = a < b || (a == b && signbit(a)) ? a : b; \\
    return a != a ? a : smaller; \\
  } \\
  static inline T maxnum_##NAME(T a, T b) { return a != a ? b : b != b ? a : maximum_##NAME(a, b); } \\
  static inline T minnum_##NAME(T a, T b) { return a != a ? b : b != b ? a : minimum_##NAME(a, b); }
EXTREMES(float, f32)
EXTREMES(double, f64)
"""  # noqa: E501

_TYPES = {
    "f32": "float",
    "f64": "double",
    "i1": "bool",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "index": "int64_t",
}
# Loops shorter than a vector are not the innermost one, if there is another.
_SHORT = 8
_MAX, _MIN = "{0} > {1} ? {0} : {1}", "{0} < {1} ? {0} : {1}"
# What an operation computes of its operands; {n} is the type of the result, {c} its type in C.
_EXPRESSIONS = {
    **dict.fromkeys(("arith.addf", "arith.addi"), "{0} + {1}"),
    **dict.fromkeys(("arith.subf", "arith.subi"), "{0} - {1}"),
    **dict.fromkeys(("arith.mulf", "arith.muli"), "{0} * {1}"),
    "arith.divf": "{0} / {1}",
    "arith.maximumf": "maximum_{n}({0}, {1})",
    "arith.minimumf": "minimum_{n}({0}, {1})",
    "arith.maxnumf": "maxnum_{n}({0}, {1})",
    "arith.minnumf": "minnum_{n}({0}, {1})",
    "arith.maxsi": _MAX,
    "arith.minsi": _MIN,
    "arith.negf": "-{0}",
    "arith.select": "{0} ? {1} : {2}",
    "arith.andi": "{0} & {1}",
    "arith.ori": "{0} | {1}",
    "arith.xori": "{0} ^ {1}",
    "math.absf": "fabs({0})",
    "math.absi": "{0} < 0 ? -{0} : {0}",
    "math.fma": "{0} * {1} + {2}",
    "math.rsqrt": "1 / sqrt{s}({0})",
    **{
        f"math.{name}": f"{name}{{s}}({{0}})"
        for name in ("exp", "exp2", "log", "log2", "sqrt", "tanh", "sin", "cos", "erf")
    },
    **dict.fromkeys(
        ("arith.extf", "arith.truncf", "arith.extsi", "arith.sitofp", "arith.index_cast"),
        "({c}){0}",
    ),
    "arith.trunci": "({c}){0}",
}
_OF_BITS = frozenset({"arith.select", "arith.andi", "arith.ori", "arith.xori"})
_UNSIGNED = frozenset({"arith.extui", "arith.uitofp"})  # of i1 only, as in the reference
_INTEGER_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_COMPARISONS = (  # in the order of arith: ordered, then unordered
    "false",
    "{0} == {1}",
    "{0} > {1}",
    "{0} >= {1}",
    "{0} < {1}",
    "{0} <= {1}",
    "({0} < {1} || {0} > {1})",
    "!isunordered({0}, {1})",
    "!({0} < {1} || {0} > {1})",
    "!({0} <= {1})",
    "!({0} < {1})",
    "!({0} >= {1})",
    "!({0} > {1})",
    "{0} != {1}",
    "isunordered({0}, {1})",
    "true",
)
# How a reduction begins, by the operation that combines; a sum has a clause of OpenMP.
_IDENTITIES = {
    "arith.maximumf": "-INFINITY",
    "arith.minimumf": "INFINITY",
    **dict.fromkeys(("arith.maxnumf", "arith.minnumf"), "NAN"),
}
_CLAUSES = {
    **dict.fromkeys(("arith.addf", "arith.addi"), "+"),
    "arith.maxsi": "max",
    "arith.minsi": "min",
}


@dataclass(frozen=True)
class _Buffer:
    """A tensor in memory.

    Attributes:
        name: of the pointer in C.
        kind: of the elements, such as ``f32``.
        shape: the sizes of the dimensions.
        value: of all elements, as C; then there is no memory.
        writable: whether an operation may write its result here.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    value: str = ""
    writable: bool = False


def loop_nests(text: str, symbol: str) -> str:
    """Return a function as C: a loop nest for each operation, with the memory of the result last.

    The innermost loop is one along which elements are contiguous, such that a compiler makes
    vectors; sums along it may be reordered, by a directive of OpenMP.

    Args:
        text: of the function; its last argument is the memory of the result.

    Raises:
        Unsupported: an operation or a type is not written as loops.
    """
    module = parse_program(text, "The operation")
    block = module.body.operations[0].operation.regions[0].blocks[0]
    return _Writer(block).write(symbol)


class _Writer:
    def __init__(self, block: ir.Block) -> None:
        self._block = block
        # The names in C of what was computed so far.
        self._buffers: dict[ir.Value, _Buffer] = {}
        self._scalars: dict[ir.Value, str] = {}
        self._lines: list[str] = []
        self._declarations: list[str] = []
        self._last_use = _last_uses(block)

    def write(self, symbol: str) -> str:
        """Return the function."""
        arguments = list(self._block.arguments)
        parameters: list[str] = []
        for at, each in enumerate(arguments):
            is_result = at == len(arguments) - 1
            name = "result" if is_result else f"operand{at}"
            kind = element_name(each.type)
            self._buffers[each] = _Buffer(name, kind, tensor_shape(each.type), writable=is_result)
            parameters.append(f"{'' if is_result else 'const '}{_c(kind)} *restrict {name}")
        result = self._buffers[arguments[-1]]
        *operations, end = (view.operation for view in self._block.operations)
        for at, operation in enumerate(operations):
            self._operation(operation, at)
        self._copy(self._buffers[end.operands[0]], result)
        body = "".join(f"{line}\n" for line in self._lines)
        declarations = "".join(f"{each}\n" for each in dict.fromkeys(self._declarations))
        return f"{declarations}\nstatic void {symbol}({', '.join(parameters)}) {{\n{body}}}\n"

    def _operation(self, operation: ir.Operation, at: int) -> None:
        if operation.name == "tensor.empty":
            return  # each user makes its memory
        if operation.name == "linalg.fill":
            value = self._scalars[operation.operands[0]]
            buffer = self._target(operation.operands[1], operation, at, reads=False)
            self._lines += _nest(f"{buffer.name}[i] = {value};", prod(buffer.shape))
            self._buffers[operation.results[0]] = buffer
        elif is_candidate(operation):
            nest = structured(operation)
            self._buffers[operation.results[0]] = self._nest(nest, at)
        elif operation.name == "arith.constant" and isinstance(
            kind := operation.results[0].type, ir.ShapedType
        ):
            name, value = element_name(kind), _constant(operation)
            self._buffers[operation.results[0]] = _Buffer("", name, tensor_shape(kind), value)
        else:
            self._scalars[operation.results[0]] = self._scalar(operation, self._scalars)

    def _nest(self, nest: StructuredOperation, at: int) -> _Buffer:
        """Write the loops of an operation; return the buffer of its result."""
        combine = nest.combination
        reads = nest.is_reduction or nest.reads_destination
        target = self._target(nest.destination, nest.operation, at, reads=reads, nest=nest)
        order = self._order(nest)
        innermost = order[-1] if order else None
        # A sum along the innermost loop has a variable of its own.
        sums = innermost is not None and nest.loops[innermost].type == "reduction"
        place = f"{target.name}[{_offset(nest.maps[-1], target.shape)}]"
        scalars = dict(self._scalars)
        statements: list[str] = []
        arguments = list(nest.body.arguments)
        read = self._read_values(nest)
        for number, argument in enumerate(arguments):
            if argument not in read:
                continue
            is_last = number == len(arguments) - 1
            if is_last:
                scalars[argument] = "sum" if sums else place
                continue
            scalars[argument] = f"s{number}"
            value = self._element(nest.operation.operands[number], nest.maps[number])
            kind = _c(str(argument.type))
            statements.append(f"{kind} s{number} = {value};")
        for number, view in enumerate(nest.body.operations):
            each = view.operation
            if each.name == "linalg.yield":
                yielded = scalars[each.operands[0]]
                statements.append(f"{'sum' if sums else place} = {yielded};")
                break
            if each.name == "arith.constant":
                scalars[each.results[0]] = _constant(each)
                continue
            value = self._scalar(each, scalars)
            scalars[each.results[0]] = f"v{number}"
            statements.append(f"{_c(str(each.results[0].type))} v{number} = {value};")
        self._lines += self._loops(nest, order, statements, place if sums else "", combine, target)
        return target

    def _loops(
        self,
        nest: StructuredOperation,
        order: Sequence[int],
        statements: Sequence[str],
        summed: str,
        combine: ir.Operation | None,
        target: _Buffer,
    ) -> list[str]:
        """Return the lines of loops around statements.

        Args:
            nest: the operation.
            order: of its loops.
            statements: of the innermost loop.
            summed: the element in which the innermost loop ends; "" if it is no reduction.
            combine: the operation that combines a term with the result so far.
            target: of the result.
        """
        lines: list[str] = []
        depth = 1
        for loop in order:
            is_innermost = loop == order[-1]
            if is_innermost and summed:
                lines.append(f"{'  ' * depth}{_c(target.kind)} sum = {summed};")
                lines += self._directive(combine, target.kind, depth)
            size = nest.loops[loop].size
            head = f"for (int64_t i{loop} = 0; i{loop} < {size}; ++i{loop}) {{"
            lines.append(f"{'  ' * depth}{head}")
            depth += 1
        lines += [f"{'  ' * depth}{each}" for each in statements]
        for loop in reversed(order):
            depth -= 1
            lines.append(f"{'  ' * depth}}}")
            if loop == order[-1] and summed:
                lines.append(f"{'  ' * depth}{summed} = sum;")
        return lines if order else ["  {", *lines, "  }"]

    def _directive(self, combine: ir.Operation | None, kind: str, depth: int) -> list[str]:
        """Return the permission to combine terms in another order; none for other reductions."""
        if combine is None:
            return []
        clause = _CLAUSES.get(combine.name)
        if clause is None:
            identity = _IDENTITIES[combine.name]
            name = combine.name.removeprefix("arith.")
            clause = f"{name}_{kind}"
            value = _EXPRESSIONS[combine.name].format("omp_out", "omp_in", n=kind)
            self._declarations.append(
                f"#pragma omp declare reduction({clause} : {_c(kind)} : omp_out = {value}) "
                f"initializer(omp_priv = {identity})"
            )
        return [f"{'  ' * depth}#pragma omp simd reduction({clause} : sum)"]

    def _read_values(self, nest: StructuredOperation) -> set[ir.Value]:
        return {each for each in nest.body.arguments if any(True for _ in each.uses)}

    def _element(self, value: ir.Value, indexing: ir.AffineMap) -> str:
        if value in self._scalars:
            return self._scalars[value]
        buffer = self._buffers.get(value)
        if buffer is None:
            raise Unsupported("An operand without content is read.")
        return buffer.value or f"{buffer.name}[{_offset(indexing, buffer.shape)}]"

    def _scalar(self, operation: ir.Operation, scalars: Mapping[ir.Value, str]) -> str:
        """Return the expression of an operation on elements."""
        name = operation.name
        if name == "arith.constant":
            return _constant(operation)
        if name == "linalg.index":
            return f"i{integer_attribute(operation, 'dim')}"
        if name == "tensor.extract":
            return self._extracted(operation, scalars)
        if len(operation.results) != 1 or any(each not in scalars for each in operation.operands):
            raise Unsupported(f"{name} is not written in C.")
        given = [scalars[each] for each in operation.operands]
        kind = str(operation.results[0].type)
        if name in ("arith.cmpi", "arith.cmpf"):
            return _comparison(operation, given)
        expression = _EXPRESSIONS.get(name)
        kinds = [str(each.type) for each in (*operation.operands, *operation.results)]
        if "i1" in kinds and name not in _OF_BITS:
            expression = None
        if name in _UNSIGNED and str(operation.operands[0].type) == "i1":
            expression = "({c}){0}"
        if expression is None:
            raise Unsupported(f"{name} is not written in C.")
        suffix = "f" if kind == "f32" else ""
        # In parentheses: an operand may itself be an expression, outside of a body.
        given = [each if re.fullmatch(r"\w+", each) else f"({each})" for each in given]
        return expression.format(*given, n=kind, c=_c(kind), s=suffix)

    def _extracted(self, operation: ir.Operation, scalars: Mapping[ir.Value, str]) -> str:
        source, *indices = operation.operands
        buffer = self._buffers.get(source)
        if buffer is None or any(each not in scalars for each in indices):
            raise Unsupported("tensor.extract reads what is not written in C.")
        terms = [
            f"{scalars[index]} * {stride}"
            for index, stride in zip(indices, _strides(buffer.shape), strict=True)
        ]
        return buffer.value or f"{buffer.name}[{' + '.join(terms) or '0'}]"

    def _target(
        self,
        value: ir.Value,
        operation: ir.Operation,
        at: int,
        *,
        reads: bool,
        nest: StructuredOperation | None = None,
    ) -> _Buffer:
        """Return the buffer of a result: that of its initial values if nothing reads them later.

        Args:
            value: the initial values.
            operation: whose result it is.
            at: its place in the block.
            reads: whether the initial values are read.
            nest: the operation as loops.
        """
        old = self._buffers.get(value)
        inputs = nest.inputs if nest is not None else ()
        is_free = self._last_use.get(value) == at and (
            value not in inputs
            or (nest is not None and not nest.is_reduction and nest.reads_by_identity(value))
        )
        if old is not None and old.writable and is_free:
            return old
        kind = operation.results[0].type
        name = f"t{len(self._declarations)}"
        made = _Buffer(name, element_name(kind), tensor_shape(kind), writable=True)
        size = max(1, prod(made.shape))
        self._declarations.append(
            f"static {_c(made.kind)} {name}[{size}] __attribute__((aligned(64)));"
        )
        if reads:
            if old is None:
                raise Unsupported(f"{operation.name} adds to a tensor without content.")
            self._copy(old, made)
        return made

    def _copy(self, source: _Buffer, target: _Buffer) -> None:
        if source is target:
            return
        value = source.value or f"{source.name}[i]"
        self._lines += _nest(f"{target.name}[i] = {value};", prod(target.shape))

    def _order(self, nest: StructuredOperation) -> list[int]:
        """Return the loops of an operation, the outermost first.

        Those of the result come first, then reductions, then the innermost one: that for which the
        fewest operands are read at a distance; of these a loop of the result, and the last.
        """
        loops = range(len(nest.loops))
        long = [each for each in loops if nest.loops[each].size >= _SHORT] or list(loops)

        def cost(loop: int) -> tuple[int, bool, int]:
            return self._distant(nest, loop), nest.loops[loop].type == "reduction", -loop

        innermost = min(long, key=cost, default=None)
        outer = [each for each in loops if each != innermost]
        outer.sort(key=lambda each: nest.loops[each].type == "reduction")
        return outer if innermost is None else [*outer, innermost]

    def _distant(self, nest: StructuredOperation, loop: int) -> int:
        """Return how many operands are read, or written, at a distance along a loop."""
        distant = 0
        read = self._read_values(nest)
        *inputs, _ = nest.body.arguments
        for number, indexing in enumerate(nest.maps):
            value = nest.operation.operands[number]
            if number < len(inputs) and (inputs[number] not in read or value not in self._buffers):
                continue
            shape = tensor_shape(value.type)
            steps = zip(indexing.results, _strides(shape), strict=True)
            distance = sum(_step(expression, loop) * stride for expression, stride in steps)
            distant += distance > 1
        return distant


def _last_uses(block: ir.Block) -> dict[ir.Value, int]:
    """Return the place of the last operation that uses a value; nested ones count as theirs."""
    places = {view.operation: at for at, view in enumerate(block.operations)}
    values = [*block.arguments]
    values += [each for view in block.operations for each in view.operation.results]
    last: dict[ir.Value, int] = {}
    for value in values:
        for use in value.uses:
            user = use.owner.operation
            while user not in places and (outer := user.parent) is not None:
                user = outer.operation
            last[value] = max(last.get(value, -1), places[user])
    return last


def _nest(statement: str, size: int) -> Iterator[str]:
    yield f"  for (int64_t i = 0; i < {size}; ++i)"
    yield f"    {statement}"


def _c(kind: str) -> str:
    if kind not in _TYPES:
        raise Unsupported(f"Loops in C are not written for the type {kind}.")
    return _TYPES[kind]


def _constant(operation: ir.Operation) -> str:
    """Return the value of a constant, or of all its elements."""
    attribute = operation.attributes["value"]
    if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat:
        attribute = attribute.get_splat_value()
    if isinstance(attribute, ir.FloatAttr):
        number, suffix = attribute.value, "f" if str(attribute.type) == "f32" else ""
        _c(str(attribute.type))
        if isnan(number):
            return "NAN"
        if isinf(number):
            return "INFINITY" if number > 0 else "-INFINITY"
        return f"{number.hex()}{suffix}"
    if isinstance(attribute, ir.BoolAttr | ir.IntegerAttr):
        number = attribute.value
        if str(attribute.type) == "i1":
            return "true" if number else "false"
        return f"({_c(str(attribute.type))})({number}ll)" if number > -(2**63) else "INT64_MIN"
    raise Unsupported(f"The constant {attribute} is not written in C.")


def _comparison(operation: ir.Operation, given: Sequence[str]) -> str:
    predicate = integer_attribute(operation, "predicate")
    if str(operation.operands[0].type) == "i1" and predicate > 1:
        raise Unsupported("An order of bits is not written in C.")
    if operation.name == "arith.cmpf":
        return _COMPARISONS[predicate].format(*given)
    x, y = given
    if predicate >= len(_INTEGER_COMPARISONS):  # unsigned
        kind = _c(str(operation.operands[0].type))
        x, y, predicate = f"(u{kind}){x}", f"(u{kind}){y}", predicate - 4
    return f"{x} {_INTEGER_COMPARISONS[predicate]} {y}"


def _strides(shape: Sequence[int]) -> list[int]:
    """Return the distance of neighbours in each dimension, in elements."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def _offset(indexing: ir.AffineMap, shape: Sequence[int]) -> str:
    """Return the place of the element that an iteration reads."""
    if not indexing.results:
        return "0"
    terms: list[str] = []
    for expression, stride in zip(indexing.results, _strides(shape), strict=True):
        index = _index(expression)
        terms.append(index if stride == 1 else f"{index} * {stride}")
    return " + ".join(terms)


def _index(expression: ir.AffineExpr) -> str:
    """Return an index in C; loops are not negative, so division rounds as in MLIR."""
    if isinstance(expression, ir.AffineDimExpr):
        return f"i{expression.position}"
    if isinstance(expression, ir.AffineConstantExpr):
        return str(expression.value)
    for kind, sign in (
        (ir.AffineAddExpr, "+"),
        (ir.AffineMulExpr, "*"),
        (ir.AffineModExpr, "%"),
        (ir.AffineFloorDivExpr, "/"),
    ):
        if isinstance(expression, kind):
            return f"({_index(expression.lhs)} {sign} {_index(expression.rhs)})"
    raise Unsupported(f"The index {expression} is not written in C.")


def _step(expression: ir.AffineExpr, loop: int) -> int:
    """Return how far an index moves with a loop; 2, as at a distance, if that varies."""
    if isinstance(expression, ir.AffineDimExpr):
        return int(expression.position == loop)
    if isinstance(expression, ir.AffineConstantExpr):
        return 0
    if isinstance(expression, ir.AffineAddExpr):
        return _step(expression.lhs, loop) + _step(expression.rhs, loop)
    if isinstance(expression, ir.AffineMulExpr) and isinstance(
        expression.rhs, ir.AffineConstantExpr
    ):
        return abs(_step(expression.lhs, loop) * expression.rhs.value)
    if isinstance(expression, ir.AffineBinaryExpr):
        sides = (expression.lhs, expression.rhs)
        return 2 * any(_step(each, loop) for each in sides)
    return 2
