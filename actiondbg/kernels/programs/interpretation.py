"""A NumPy interpretation of functions of linalg operations, with bounds of the rounding errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import erf, prod
from string import ascii_letters

import numpy as np

from actiondbg.kernels.errors import Unsupported
from actiondbg.kernels.model import ElementType, Reference, one_sign_growth
from actiondbg.kernels.packages import ir
from actiondbg.kernels.programs.structured_operation import (
    StructuredOperation,
    defining_operation,
    dimensions,
    element_name,
    integer_attribute,
    is_candidate,
    is_identity,
    parse_program,
    structured,
    tensor_shape,
)

# Of finite operands, their results are infinite only where they are too large.
_GROWING = {"arith.addf", "arith.subf", "arith.mulf", "math.fma", "math.exp", "math.exp2"}
# An iteration space larger than this is not evaluated element by element: half a GiB an array.
_LARGEST = 2**26
_EXACT = 2**53  # float64 holds all integers up to this
_CASTS = frozenset({"arith.extf", "arith.extsi", "arith.sitofp"})
_PRODUCTS = frozenset({"arith.mulf", "arith.muli"})
_SUMS = frozenset({"arith.addf", "arith.addi"})
_REDUCTIONS: dict[str, np.ufunc] = {
    **dict.fromkeys(_SUMS, np.add),
    **dict.fromkeys(("arith.maximumf", "arith.maxsi"), np.maximum),
    **dict.fromkeys(("arith.minimumf", "arith.minsi"), np.minimum),
    "arith.maxnumf": np.fmax,  # of a NaN and a number, the number
    "arith.minnumf": np.fmin,
}
_COMPARISONS: dict[str, np.ufunc] = {  # signed, in the order of arith.cmpi
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_ORDERED_PREDICATES = ("", "eq", "gt", "ge", "lt", "le", "ne")
_FIRST_UNORDERED = 8  # then in the same order, true if one of them is NaN


@dataclass(frozen=True)
class BoundedArray:
    """Values in float64, int64 or bool, each with a bound of its error.

    Attributes:
        values: as if computed without rounding.
        errors: to first order, in units of the roundoff of the accumulator; 0 for what is exact.
        exact: whether the values are those that a kernel computes if the operands are integers
            and all absolute values are below 2 to the precision.
        earlier: the bound without the last rounding, to the type of the values; None if there was
            none.
    """

    values: np.ndarray
    errors: np.ndarray
    exact: bool = True
    earlier: np.ndarray | None = None

    @property
    def unrounded(self) -> np.ndarray:
        """The bound of the error without the last rounding."""
        return self.errors if self.earlier is None else self.earlier

    def mapped(self, function: Callable[[np.ndarray], np.ndarray]) -> BoundedArray:
        """Return the array with its elements at other places.

        Args:
            function: of an array of the shape of ``values``.
        """
        shape = self.values.shape
        errors, earlier = (
            None if each is None else function(np.broadcast_to(each, shape))
            for each in (self.errors, self.earlier)
        )
        assert errors is not None
        return BoundedArray(function(self.values), errors, self.exact, earlier)


def exact_array(values: np.ndarray) -> BoundedArray:
    """Return an array without errors, such as an operand."""
    return BoundedArray(values, np.zeros((1,) * values.ndim))


def computed(
    name: str, kind: str, operands: list[BoundedArray], accumulator: ElementType
) -> BoundedArray:
    """Return the result of an operation of the dialect arith or math.

    Args:
        name: of the operation, such as ``arith.addf``.
        kind: the type of the result, such as ``f32``.
        operands: of shapes that NumPy broadcasts.
        accumulator: whose roundoff is the unit of errors.

    Raises:
        Unsupported: the operation is unknown.
    """
    function = _FUNCTIONS.get(name)
    if function is None:
        raise Unsupported(f"The reference does not interpret {name}.")
    with np.errstate(all="ignore"):
        result = function(*operands)
        if not kind.startswith(("f", "bf")):
            return replace(result, values=_wrapped(result.values, kind))
        if name in _UNROUNDED:
            return result
        unit = accumulator.unit_roundoff
        weight = _element(kind).unit_roundoff / unit if unit else 1.0
        errors = result.errors + weight * np.abs(result.values)
        return replace(result, errors=errors, earlier=result.errors)


def _element(kind: str) -> ElementType:
    try:
        return ElementType(kind)
    except ValueError as error:
        raise Unsupported(f"The reference does not interpret the type {kind}.") from error


def _wrapped(values: np.ndarray, kind: str) -> np.ndarray:
    """Return integers as two's complement of their width."""
    if kind == "i1":
        return values if values.dtype == np.bool_ else (values & 1).astype(bool)
    values = values.astype(np.int64)
    if kind == "index" or int(kind[1:]) >= 64:
        return values
    half = 1 << (int(kind[1:]) - 1)
    return (values + half) % (2 * half) - half


def signed(array: BoundedArray) -> BoundedArray:
    """Return numbers; true is -1, as the sign is the only bit."""
    if array.values.dtype != np.bool_:
        return array
    return replace(array, values=-array.values.astype(np.int64))


_Binary = Callable[[BoundedArray, BoundedArray], BoundedArray]


def _combined(function: np.ufunc, errors: np.ufunc) -> _Binary:
    """Return a function of numbers: the errors of a sum add up, of an extreme the larger counts."""

    def apply(x: BoundedArray, y: BoundedArray) -> BoundedArray:
        x, y = signed(x), signed(y)
        bound, earlier = errors(x.errors, y.errors), errors(x.unrounded, y.unrounded)
        return BoundedArray(function(x.values, y.values), bound, x.exact and y.exact, earlier)

    return apply


def _signless(function: np.ufunc) -> Callable[[BoundedArray], BoundedArray]:
    """Return a function that changes the sign only."""

    def apply(x: BoundedArray) -> BoundedArray:
        return replace(x, values=function(x.values))

    return apply


_sum = _combined(np.add, np.add)


def _product(x: BoundedArray, y: BoundedArray) -> BoundedArray:
    errors = abs(x.values) * y.errors + abs(y.values) * x.errors
    return BoundedArray(x.values * y.values, errors, x.exact and y.exact)


def _quotient(x: BoundedArray, y: BoundedArray) -> BoundedArray:
    values = x.values / y.values
    errors = (x.errors + abs(values) * y.errors) / abs(y.values)
    # A compiler may multiply by the reciprocal.
    return BoundedArray(values, errors + abs(values), exact=False)


def _selection(condition: BoundedArray, x: BoundedArray, y: BoundedArray) -> BoundedArray:
    values = np.where(condition.values, x.values, y.values)
    errors = np.where(condition.values, x.errors, y.errors)
    earlier = np.where(condition.values, x.unrounded, y.unrounded)
    return BoundedArray(values, errors, condition.exact and x.exact and y.exact, earlier)


def _same(x: BoundedArray) -> BoundedArray:
    """Return a number in another type: the last rounding was not to this one."""
    return replace(x, earlier=None)


def _as_float(x: BoundedArray) -> BoundedArray:
    return BoundedArray(signed(x).values.astype(np.float64), x.errors, x.exact)


def _unsigned(x: BoundedArray) -> BoundedArray:
    if x.values.dtype != np.bool_:
        raise Unsupported("The reference interprets unsigned extensions of i1 only.")
    return BoundedArray(x.values.astype(np.int64), x.errors, x.exact)


def _unsigned_as_float(x: BoundedArray) -> BoundedArray:
    return _as_float(_unsigned(x))


def _bitwise(function: np.ufunc) -> _Binary:
    def apply(x: BoundedArray, y: BoundedArray) -> BoundedArray:
        return BoundedArray(function(x.values, y.values), x.errors, x.exact and y.exact)

    return apply


def _function(
    value: Callable[[np.ndarray], np.ndarray], slope: Callable[[np.ndarray], np.ndarray]
) -> Callable[[BoundedArray], BoundedArray]:
    """Return a function of one argument.

    Args:
        value: of the function.
        slope: a bound of the absolute derivative.
    """

    def apply(x: BoundedArray) -> BoundedArray:
        values = value(x.values)
        # A library's function may be wrong by some units in the last place.
        return BoundedArray(values, slope(x.values) * x.errors + 2 * abs(values), exact=False)

    return apply


def _fused(x: BoundedArray, y: BoundedArray, z: BoundedArray) -> BoundedArray:
    product = _product(x, y)
    # A processor without such an instruction rounds the product.
    return _sum(replace(product, errors=product.errors + abs(product.values)), z)


_FUNCTIONS: dict[str, Callable[..., BoundedArray]] = {
    **dict.fromkeys(("arith.addf", "arith.addi"), _sum),
    **dict.fromkeys(("arith.subf", "arith.subi"), _combined(np.subtract, np.add)),
    **dict.fromkeys(("arith.mulf", "arith.muli"), _product),
    "arith.divf": _quotient,
    **dict.fromkeys(("arith.maximumf", "arith.maxsi"), _combined(np.maximum, np.maximum)),
    "arith.maxnumf": _combined(np.fmax, np.maximum),
    **dict.fromkeys(("arith.minimumf", "arith.minsi"), _combined(np.minimum, np.maximum)),
    "arith.minnumf": _combined(np.fmin, np.maximum),
    "arith.negf": _signless(np.negative),
    "arith.select": _selection,
    **dict.fromkeys(("arith.extf", "arith.truncf", "arith.trunci"), _same),
    **dict.fromkeys(("arith.extsi", "arith.index_cast"), signed),
    "arith.extui": _unsigned,
    "arith.sitofp": _as_float,
    "arith.uitofp": _unsigned_as_float,
    "arith.andi": _bitwise(np.bitwise_and),
    "arith.ori": _bitwise(np.bitwise_or),
    "arith.xori": _bitwise(np.bitwise_xor),
    **dict.fromkeys(("math.absf", "math.absi"), _signless(np.absolute)),
    "math.fma": _fused,
    "math.exp": _function(np.exp, np.exp),
    "math.exp2": _function(np.exp2, np.exp2),
    "math.log": _function(np.log, lambda x: 1 / abs(x)),
    "math.log2": _function(np.log2, lambda x: 1.5 / abs(x)),
    "math.sqrt": _function(np.sqrt, lambda x: 0.5 / np.sqrt(x)),
    "math.rsqrt": _function(lambda x: x**-0.5, lambda x: 0.5 * x**-1.5),
    "math.tanh": _function(np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "math.sin": _function(np.sin, lambda x: abs(np.cos(x))),
    "math.cos": _function(np.cos, lambda x: abs(np.sin(x))),
    "math.erf": _function(np.vectorize(erf, otypes=[float]), lambda x: 1.13 * np.exp(-x * x)),
}
# Their results are operands, or exact in the type of the result.
_UNROUNDED = frozenset(
    (
        *("arith.maximumf", "arith.maxnumf", "arith.minimumf", "arith.minnumf"),
        *("arith.negf", "arith.select", "arith.extf", "math.absf"),
    )
)


def interpret(text: str, inputs: Sequence[np.ndarray], accumulator: ElementType) -> Reference:
    """Return what a function computes.

    Args:
        text: the function; its last argument is not a destination.
        accumulator: in whose roundoff the bound of errors is counted.

    Raises:
        Unsupported: an operation is not interpreted.
    """
    module = parse_program(text, "The operation")
    function = module.body.operations[0].operation
    block = function.regions[0].blocks[0]
    arrays = (exact_array(_wide(each)) for each in inputs)
    scope: _Scope = dict(zip(block.arguments, arrays, strict=True))
    interpreter = _Interpreter(accumulator)
    *operations, end = (view.operation for view in block.operations)
    for operation in operations:
        scope[operation.results[0]] = interpreter.evaluate(operation, scope)
    # The type of the result may be too narrow for the last number, as it may be for a sum.
    overflows = any(interpreter.overflows[:-1])
    return replace(_reference(scope[end.operands[0]]), overflows=overflows)


_Scope = dict["ir.Value", BoundedArray]


def _reference(result: BoundedArray) -> Reference:
    """Return a result with its magnitude; NaN, such as the root of -1, has to be met as such."""
    magnitude = np.maximum(abs(result.values), result.errors)
    magnitude, errors = (
        np.where(np.isnan(result.values), 0.0, np.where(np.isnan(each), np.inf, each))
        for each in (magnitude, result.unrounded)
    )
    return Reference(result.values, magnitude, result.exact, errors=errors)


def _wide(array: np.ndarray) -> np.ndarray:
    if array.dtype == np.bool_:
        return array
    return array.astype(np.int64 if array.dtype.kind in "iu" else np.float64)


@dataclass(frozen=True)
class _Interpreter:
    """Evaluates operations, with errors in the roundoff of an accumulator.

    Attributes:
        overflows: of each operation, in order, whether a result is too large for its type.
    """

    accumulator: ElementType
    overflows: list[bool] = field(default_factory=list[bool])

    def evaluate(self, operation: ir.Operation, scope: _Scope) -> BoundedArray:
        """Return the result of an operation outside of a body."""
        if operation.name == "tensor.empty":
            return exact_array(np.zeros(tensor_shape(operation.results[0].type)))
        if operation.name == "linalg.fill":
            shape = tensor_shape(operation.results[0].type)
            return _broadcast(scope[operation.operands[0]], shape)
        if is_candidate(operation):
            return self._structured(structured(operation), scope)
        return self._scalar(operation, scope, ())

    def _structured(self, operation: StructuredOperation, scope: _Scope) -> BoundedArray:
        if not operation.is_reduction:
            return self._parallel(operation, scope)
        combine = operation.combination
        if combine is None:
            raise Unsupported(
                f"The reference does not interpret the reduction of {operation.name}: it is not "
                "one sum, maximum or minimum."
            )
        if 0 in operation.sizes:
            return _broadcast(scope[operation.destination], tensor_shape(operation.result.type))
        factors = _factors(operation, combine)
        if factors is not None:
            reduced = self._product_sum(operation, scope, factors)
        else:
            reduced = self._reduced(operation, scope, combine)
        initial = scope[operation.destination]
        kind = element_name(operation.result.type)
        return self._computed(combine.name, kind, [initial, reduced])

    def _computed(self, name: str, kind: str, operands: list[BoundedArray]) -> BoundedArray:
        result = computed(name, kind, operands, self.accumulator)
        limit = _element(kind).largest if kind.startswith(("f", "bf")) else np.inf
        sizes = abs(result.values) if limit < np.inf else np.zeros(1)
        is_too_large = (sizes > limit) & np.isfinite(sizes)
        if kind == "f64" and name in _GROWING:  # the reference has this type, too
            is_too_large = np.isinf(sizes)
            for operand in operands:
                is_too_large = is_too_large & np.isfinite(operand.values)
        self.overflows.append(bool(is_too_large.any()))
        return result

    def _parallel(self, operation: StructuredOperation, scope: _Scope) -> BoundedArray:
        result = self._body(operation, scope, None)
        full = _broadcast(result, operation.sizes)
        order = _order(operation.maps[-1])
        return full.mapped(lambda each: each.transpose(order))

    def _reduced(
        self, operation: StructuredOperation, scope: _Scope, combine: ir.Operation
    ) -> BoundedArray:
        if prod(operation.sizes) > _LARGEST:
            raise Unsupported(
                f"The iteration space of {operation.name} is too large to be interpreted: "
                f"{'x'.join(map(str, operation.sizes))}."
            )
        terms = _broadcast(self._body(operation, scope, combine), operation.sizes)
        order = _order(operation.maps[-1])
        axes = tuple(at for at in range(len(operation.sizes)) if at not in order)
        kept = [at for at in range(len(operation.sizes)) if at in order]
        function = _REDUCTIONS[combine.name]
        values = function.reduce(terms.values, axis=axes)
        if function is np.add:
            errors = (abs(terms.values) + terms.errors).sum(axis=axes)
            if (terms.values >= 0).all() or (terms.values <= 0).all():
                errors = errors * one_sign_growth(prod(operation.sizes[at] for at in axes))
        else:
            errors = terms.errors.max(axis=axes)
        turn = [kept.index(at) for at in order]
        return BoundedArray(values.transpose(turn), errors.transpose(turn), terms.exact)

    def _product_sum(
        self, operation: StructuredOperation, scope: _Scope, factors: tuple[int, int]
    ) -> BoundedArray:
        """Add up products of two operands, by a product of matrices where there is one."""
        x, y = (scope[operation.operation.operands[at]] for at in factors)
        names = [ascii_letters[at] for at in range(len(operation.sizes))]
        result = "".join(names[at] for at in _order(operation.maps[-1]))
        maps = [operation.maps[at] for at in factors]

        def add_up(left: np.ndarray, right: np.ndarray) -> np.ndarray:
            terms: list[str] = []
            arrays: list[np.ndarray] = []
            for array, indexing in ((left, maps[0]), (right, maps[1])):
                each = _elements(array, indexing, operation.sizes)
                used = [at for at, size in enumerate(each.shape) if size > 1]
                terms.append("".join(names[at] for at in used))
                arrays.append(each.reshape([each.shape[at] for at in used]))
            present = {name for term in terms for name in term}
            kept = "".join(name for name in result if name in present)
            values = np.einsum(f"{','.join(terms)}->{kept}", *arrays, optimize=True)
            # Loops that neither operand depends on, and those of size 1.
            missing = [at for at, name in enumerate(names) if name not in present]
            sums = prod(operation.sizes[at] for at in missing if names[at] not in result)
            shape = [operation.sizes[names.index(name)] if name in kept else 1 for name in result]
            full = [operation.sizes[names.index(name)] for name in result]
            return np.broadcast_to(values.reshape(shape) * sums, full)

        values = add_up(x.values.astype(np.float64), y.values.astype(np.float64))
        errors = add_up(abs(x.values), abs(y.values) + y.errors)
        if x.errors.any():
            errors = errors + add_up(x.errors, abs(y.values))
        if x.values.dtype == y.values.dtype == np.int64:
            if errors.max(initial=0) >= _EXACT:
                raise Unsupported(f"The sums of {operation.name} are too large to be exact.")
            values = values.astype(np.int64)
        return BoundedArray(values, errors.astype(np.float64), x.exact and y.exact)

    def _body(
        self, operation: StructuredOperation, scope: _Scope, combine: ir.Operation | None
    ) -> BoundedArray:
        """Return what the body yields, or the term that it combines with the result so far."""
        block = operation.body
        inner = dict(scope)
        last = len(block.arguments) - 1
        for at, argument in enumerate(block.arguments):
            if at == last and combine is not None:
                continue
            outer = scope[operation.operation.operands[at]]
            # The elements that each iteration reads; dimensions of other loops have size 1.
            inner[argument] = outer.mapped(
                lambda each, indexing=operation.maps[at]: _elements(each, indexing, operation.sizes)
            )
        for view in block.operations:
            each = view.operation
            if combine is not None and each == combine:
                continue
            if each.name == "linalg.yield":
                break
            inner[each.results[0]] = self._scalar(each, inner, operation.sizes)
        if combine is None:
            return inner[operation.yielded]
        so_far = block.arguments[last]
        term = next(each for each in combine.operands if each != so_far)
        return inner[term]

    def _scalar(
        self, operation: ir.Operation, scope: _Scope, sizes: tuple[int, ...]
    ) -> BoundedArray:
        name = operation.name
        if name == "arith.constant":
            return _constant(operation)
        if name == "linalg.index":
            at = integer_attribute(operation, "dim")
            return exact_array(_range(at, sizes))
        missing = [each for each in operation.operands if each not in scope]
        if missing or len(operation.results) != 1:
            raise Unsupported(f"The reference does not interpret {name}.")
        operands = [scope[each] for each in operation.operands]
        if name == "tensor.extract":
            return _extracted(operands[0], operands[1:])
        if name in ("arith.cmpi", "arith.cmpf"):
            return _comparison(operation, operands)
        return self._computed(name, str(operation.results[0].type), operands)


def _extracted(source: BoundedArray, indices: Sequence[BoundedArray]) -> BoundedArray:
    places = tuple(each.values for each in indices)
    for place, size in zip(places, source.values.shape, strict=True):
        if place.size and not (place.min() >= 0 and place.max() < size):
            raise Unsupported("The operands make tensor.extract read outside of its tensor.")
    return source.mapped(lambda each: each[places])


def _factors(operation: StructuredOperation, combine: ir.Operation) -> tuple[int, int] | None:
    """Return the operands whose products are added up, or None if the terms are others."""
    if combine.name not in _SUMS:
        return None
    arguments = list(operation.body.arguments)
    term = next(each for each in combine.operands if each != arguments[-1])
    product = defining_operation(term)
    if product is None or product.name not in _PRODUCTS:
        return None
    found: list[int] = []
    for value in product.operands:
        cast = defining_operation(value)
        if cast is not None and cast.name in _CASTS:
            value = cast.operands[0]
        if value not in arguments:
            return None
        found.append(arguments.index(value))
    return found[0], found[1]


def _constant(operation: ir.Operation) -> BoundedArray:
    """Return a constant: not exact in a sum of integers if it has a fraction."""
    attribute = operation.attributes["value"]
    shape: tuple[int, ...] = ()
    if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat:
        shape = tensor_shape(operation.results[0].type)
        attribute = attribute.get_splat_value()
    if isinstance(attribute, ir.FloatAttr):
        number = attribute.value
        exact = number.is_integer() or not np.isfinite(number)
        full = exact_array(np.full(shape, number))
        return BoundedArray(full.values, full.errors, exact)
    if isinstance(attribute, ir.BoolAttr | ir.IntegerAttr):
        boolean = str(attribute.type) == "i1"
        return exact_array(np.full(shape, bool(attribute.value) if boolean else attribute.value))
    raise Unsupported(f"The reference does not interpret the constant {attribute}.")


def _comparison(operation: ir.Operation, operands: list[BoundedArray]) -> BoundedArray:
    predicate = integer_attribute(operation, "predicate")
    of_integers = operation.name == "arith.cmpi"
    names = tuple(_COMPARISONS) if of_integers else _ORDERED_PREDICATES
    is_unordered = not of_integers and _FIRST_UNORDERED <= predicate < 2 * _FIRST_UNORDERED - 1
    name = predicate - _FIRST_UNORDERED + 1 if is_unordered else predicate
    if name >= len(names) or not names[name]:
        raise Unsupported(
            f"The reference does not interpret predicate {predicate} of a comparison."
        )
    x, y = (signed(each) for each in operands)
    values = _COMPARISONS[names[name]](x.values, y.values)
    if not of_integers:
        has_nan = np.isnan(x.values) | np.isnan(y.values)
        values = values | has_nan if is_unordered else values & ~has_nan
    return BoundedArray(values, x.errors * 0.0, x.exact and y.exact)


def _broadcast(array: BoundedArray, shape: Sequence[int]) -> BoundedArray:
    return array.mapped(lambda each: np.broadcast_to(each, shape))


def _elements(array: np.ndarray, indexing: ir.AffineMap, sizes: tuple[int, ...]) -> np.ndarray:
    if is_identity(indexing):
        return array
    if not indexing.results:
        return array.reshape((1,) * len(sizes))
    indices = tuple(_index(each, sizes) for each in indexing.results)
    return array[indices]


def _index(expression: ir.AffineExpr, sizes: tuple[int, ...]) -> np.ndarray:
    """Return the values of an expression for all iterations."""
    if isinstance(expression, ir.AffineDimExpr):
        return _range(expression.position, sizes)
    if isinstance(expression, ir.AffineConstantExpr):
        return np.full((1,) * len(sizes), expression.value)
    for kind, function in (
        (ir.AffineAddExpr, np.add),
        (ir.AffineMulExpr, np.multiply),
        (ir.AffineModExpr, np.mod),
        (ir.AffineFloorDivExpr, np.floor_divide),
    ):
        if isinstance(expression, kind):
            return function(_index(expression.lhs, sizes), _index(expression.rhs, sizes))
    raise Unsupported(f"The reference does not interpret the index {expression}.")


def _range(loop: int, sizes: tuple[int, ...]) -> np.ndarray:
    shape = [1] * len(sizes)
    shape[loop] = sizes[loop]
    return np.arange(sizes[loop]).reshape(shape)


def _order(indexing: ir.AffineMap) -> list[int]:
    """Return the loops that the dimensions of a result are."""
    loops = dimensions(indexing)
    if None in loops or len(set(loops)) < len(loops):
        raise Unsupported(f"The reference does not interpret a result with the map {indexing}.")
    return [loop for loop in loops if loop is not None]
