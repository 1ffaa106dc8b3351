"""Proof that what an action made of a function is allowed by what it was.

It is where, for all arguments, one of these holds: the source has no defined behaviour; or the
target has one, each of its results, of the elements in memory at the end and of the values that
the world sees is equal to that of the source, or that of the source is poison.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from actiondbg.validation.agreement import OTHER_TEXT, FunctionRun, places_of
from actiondbg.validation.domain import NotInterpreted, OutOfBudget, UndefinedBehaviour
from actiondbg.validation.floats import from_bits
from actiondbg.validation.inputs import Argument, Array, Input, Number, View, element, materialize
from actiondbg.validation.interpreter import run_function
from actiondbg.validation.machine import Buffer, Elements, MemRef, RuntimeValue, extent
from actiondbg.validation.program import Function, Module, is_mutable
from actiondbg.validation.proof.exploration import Explorer, PathLeft, ProofLimits, TimeOver
from actiondbg.validation.proof.operation_on_terms import (
    ScalarTerm,
    Undecided,
    UndefinedTarget,
    sort_of,
)
from actiondbg.validation.proof.solver import Solver, SolverFailed
from actiondbg.validation.proof.symbolic import Symbolic
from actiondbg.validation.proof.terms import Term, Terms, have
from actiondbg.validation.types import (
    INDEX,
    INDEX_WIDTH,
    FloatType,
    IntegerType,
    ShapedType,
    Type,
    signed,
)

_MOST_COMBINATIONS = 64  # of dynamic sizes; of more, only those with all sizes equal


def size_combinations(
    types: Sequence[Type], sizes: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield the shapes of arguments, () for a scalar, with each choice of the dynamic sizes."""
    shapes = [each.shape if isinstance(each, ShapedType) else () for each in types]
    count = sum(size is None for shape in shapes for size in shape)
    choices: Iterator[Sequence[int]]
    if len(sizes) ** count <= _MOST_COMBINATIONS:
        choices = product(sizes, repeat=count)
    else:
        choices = iter([(size,) * count for size in sizes])
    for choice in choices:
        left = iter(choice)
        yield tuple(
            tuple(next(left) if size is None else size for size in shape) for shape in shapes
        )


@dataclass(slots=True)
class SymbolicArguments:
    """Makes the arguments of a function, again and again the same."""

    terms: Terms
    types: Sequence[Type]  # of the arguments
    shapes: Sequence[tuple[int, ...]]  # of the arguments; () for scalars
    index_bits: int = INDEX_WIDTH  # indices are signed numbers of so many bits
    may_be_poison: bool = False  # whether each scalar may be
    # The bits of each scalar in the order of the arguments, and of their elements.
    leaves: list[Term] = field(default_factory=list[Term])

    @property
    def count(self) -> int:
        """The scalars of all arguments."""
        return sum(prod(shape) for shape in self.shapes)

    def make(self) -> tuple[list[RuntimeValue], list[Buffer]]:
        """Return new arguments, and the memory behind them."""
        self.leaves.clear()
        return materialize(self._filled(self._leaf), self.types, lambda leaf, _: leaf)

    def input(self, values: Sequence[int]) -> Input:
        """Return what the function is called with, for the values of the leaves.

        Integers are signed, but those of one bit.
        """
        left = iter(values)
        return self._filled(lambda type: _number(next(left), type))

    def _filled(self, scalar: Callable[[IntegerType | FloatType], Any]) -> Input:
        arguments: list[Argument] = []
        buffers: list[tuple[Any, ...]] = []
        for type, shape in zip(self.types, self.shapes, strict=True):
            kind = element(type)
            if not isinstance(type, ShapedType):
                arguments.append(scalar(kind))
            elif type.kind != "memref":
                arguments.append(Array(shape, tuple(scalar(kind) for _ in range(prod(shape)))))
            else:
                view = View(len(buffers), type.offset or 0, shape, _strides(type, shape))
                length = view.offset + extent(shape, view.strides)
                buffers.append(tuple(scalar(kind) for _ in range(length)))
                arguments.append(view)
        return Input(tuple(arguments), tuple(buffers))

    def _leaf(self, type: IntegerType | FloatType) -> ScalarTerm:
        name = f"argument {len(self.leaves)}"
        if type == INDEX and self.index_bits < INDEX_WIDTH:
            small = unknown_value(self.terms, name, IntegerType(self.index_bits))
            wide = self.terms.extend(small.term, INDEX_WIDTH, is_signed=True)
            value = ScalarTerm(wide, small.poison)
        else:
            value = unknown_value(self.terms, name, type)
        bits = value.term.args[0] if value.term.op == "fp.from_bits" else value.term
        self.leaves.append(bits)
        if not self.may_be_poison:
            return value
        return ScalarTerm(value.term, self.terms.var(f"{name} is poison", "Bool"))


def unknown_value(terms: Terms, name: str, type: Type) -> ScalarTerm:
    """Return an unknown scalar of a name, which is not poison."""
    sort = sort_of(type)
    if isinstance(sort, tuple):
        return ScalarTerm(terms.from_bits(terms.var(name, sum(sort)), sort), terms.false)
    return ScalarTerm(terms.var(name, sort), terms.false)


def unknown_globals(terms: Terms, module: Module, limit: int) -> dict[str, Buffer]:
    """Return unknown memory for each global that may change before the function is called.

    Raises:
        NotInterpreted: one has too many elements.
    """
    found: dict[str, Buffer] = {}
    for symbol, operation in module.others.items():
        type = operation.attributes.get("type")
        if not is_mutable(operation) or not isinstance(type, ShapedType):
            continue
        kind = element(type)
        length = prod(size or 0 for size in type.shape)
        if length > limit:
            raise NotInterpreted(f"proof with the {length:,} elements of global @{symbol}")
        items: list[Any] = [
            unknown_value(terms, f"global {symbol}.{at}", kind) for at in range(length)
        ]
        found[symbol] = Buffer(items, kind)
    return found


def _strides(type: ShapedType, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides: without gaps where they are dynamic."""
    strides: list[int] = []
    stride = 1
    for size, fixed in zip(reversed(shape), reversed(type.strides), strict=True):
        stride = stride if fixed is None else fixed
        strides.insert(0, stride)
        stride *= max(size, 1)
    if any(stride < 0 for stride in strides):
        raise NotInterpreted(f"proof with an argument of type {type}")
    return tuple(strides)


def _number(bits: int, type: IntegerType | FloatType) -> Number:
    if isinstance(type, FloatType):
        return from_bits(bits, type)
    return bits if type.width == 1 else signed(bits, type.width)


# --- proof ---


@dataclass(frozen=True, slots=True)
class Proved:
    """The target refines the source, on all paths that were followed."""

    bounds: str | None = None  # up to what it holds, if not in general


@dataclass(frozen=True, slots=True)
class Refuted:
    """The target does something else."""

    input: Input  # for which it does; integers are signed, but those of one bit
    where: str


@dataclass(frozen=True, slots=True)
class NotProved:
    """There is no answer."""

    reason: str


_SIZES = (2, 1, 3, 0)  # what dynamic sizes of arguments are set to
_MOST_ELEMENTS = 4096  # of all arguments
# Signs of zero that are open, for each of which the source has two ways.
_MOST_CHOICES = 4

ProofResult = Proved | Refuted | NotProved


class _Found(Exception):
    def __init__(self, verdict: Refuted | NotProved) -> None:
        super().__init__()
        self.verdict = verdict


def prove(
    before: Module, after: Module, symbol: str, limits: ProofLimits | None = None
) -> ProofResult:
    """Decide whether a function after an action refines what it was before.

    No two arguments share memory. None is poison, unless the limits allow it.

    Raises:
        SolverMissing: the solver is not installed.
    """
    limits = limits or ProofLimits()
    source, target = before.functions.get(symbol), after.functions.get(symbol)
    if source is None or target is None or source.body is None or target.body is None:
        return NotProved(f"@{symbol} has no body before and after")
    if _types(source) != _types(target):
        return NotProved(f"@{symbol} has another type")
    proof = _Proof(before, after, source, limits)
    found = _verdict(proof)
    if isinstance(found, NotProved) and 0 < proof.open_signs <= _MOST_CHOICES:
        again = _verdict(proof, has_choices=True)
        return again if isinstance(again, Proved) else found
    return found


def _verdict(proof: _Proof, *, has_choices: bool = False) -> ProofResult:
    try:
        return proof.verdict(has_choices=has_choices)
    except _Found as found:
        return found.verdict
    except (NotInterpreted, Undecided, SolverFailed) as error:
        return NotProved(str(error))
    except RecursionError:
        return NotProved("terms are nested too deeply")
    except TimeOver:
        return NotProved(f"it takes more than {proof.limits.seconds:g} seconds")


def _types(function: Function) -> list[str]:
    return [str(each) for each in (*function.inputs, "->", *function.results)]


@dataclass(eq=False)
class _Proof:
    """Decides about a function."""

    _before: Module
    _after: Module
    _function: Function
    limits: ProofLimits
    open_signs: int = 0  # how many signs of zero are open in the source, at most on a path

    def __post_init__(self) -> None:
        self._terms = Terms()
        self._solver = Solver(self.limits.query_seconds)
        self._explorer = Explorer(self._terms, self._solver, self.limits)

    def verdict(self, *, has_choices: bool) -> ProofResult:
        """Follow all paths, for each choice of dynamic sizes.

        With choices, the source chooses each sign of zero that is open.
        """
        self._has_choices = has_choices
        self._compared = 0
        self._explorer.restart()
        types = self._function.inputs
        bounds = self._explorer.bounds
        for shapes in size_combinations(types, _SIZES):
            arguments = SymbolicArguments(
                self._terms, types, shapes, self.limits.index_bits, self.limits.may_be_poison
            )
            if arguments.count > _MOST_ELEMENTS:
                raise NotInterpreted(f"proof with the {arguments.count:,} elements of arguments")
            self._explorer.each_path(lambda arguments=arguments: self._path(arguments))
        if _is_dynamic(types):
            sizes = ", ".join(map(str, sorted(_SIZES)))
            bounds[f"dynamic sizes of {sizes}, strides without gaps"] = None
        if not self._compared:
            within = f" within {'; '.join(bounds)}" if bounds else ""
            return NotProved(f"no path with defined behaviour is complete{within}")
        return Proved("; ".join(bounds) or None)

    def _path(self, arguments: SymbolicArguments) -> None:
        """Run both functions on one path, and compare what they did."""
        domain = Symbolic(self._terms, self._explorer, has_choices=self._has_choices)
        source = self._run(self._before, domain, arguments)
        if source is None:
            return  # no defined behaviour: everything is allowed
        self._explorer.check_possible()
        self.open_signs = max(self.open_signs, domain.open_signs)
        domain.is_source = False
        try:
            target = self._run(self._after, domain, arguments)
        except UndefinedTarget as found:
            self._report(domain, arguments, TermDifference(found.why, found.condition))
            raise Undecided(found.why) from None
        if target is None:
            self._report(domain, arguments, TermDifference(self._undefined, self._terms.true))
            raise PathLeft
        domain.settle_frozen()
        found = differences(self._terms, source, target)
        for difference in self._best(domain, found) if domain.choices else found:
            self._report(domain, arguments, difference)
        self._compared += 1

    def _best(self, domain: Symbolic, found: Iterable[TermDifference]) -> list[TermDifference]:
        """Return the difference that is left with the best choices of the source."""
        terms, choices = self._terms, domain.choices
        if len(choices) > _MOST_CHOICES or have(self._explorer.conditions, choices.__contains__):
            raise NotInterpreted("proof with a path that depends on the sign of a zero")
        condition = terms.or_(*(each.condition for each in found))
        ways = product((terms.false, terms.true), repeat=len(choices))
        substituted = (
            terms.substituted(condition, dict(zip(choices, way, strict=True))) for way in ways
        )
        return [TermDifference("some result", terms.and_(*substituted))]

    def _run(
        self, module: Module, domain: Symbolic, arguments: SymbolicArguments
    ) -> FunctionRun | None:
        """Run a function; None if it has no defined behaviour."""
        made, memory = arguments.make()
        memories = unknown_globals(self._terms, module, _MOST_ELEMENTS)
        symbol, steps = self._function.symbol, self.limits.steps
        try:
            outcome = run_function(
                module, symbol, made, domain, steps=steps, entry_globals=memories
            )
        except UndefinedBehaviour as error:
            self._undefined = str(error)
            return None
        except OutOfBudget as error:
            self._explorer.bounds[f"runs of {self.limits.steps:,} steps ({error})"] = None
            raise PathLeft from None
        return FunctionRun(outcome, memory, self._function.results)

    def _report(
        self, domain: Symbolic, arguments: SymbolicArguments, difference: TermDifference
    ) -> None:
        """Do nothing if there is no such difference on this path.

        Raises:
            _Found: there is, or nobody knows.
        """
        answer = self._explorer.ask([difference.condition])
        if answer.status == "unsat":
            return
        if answer.status == "unknown":
            raise _Found(NotProved(f"the solver takes too long for {difference.where}"))
        open_results = "; ".join(dict.fromkeys(domain.approximations.values()))
        conditions = [difference.condition, *domain.approximations]
        answer = self._explorer.ask(conditions, arguments.leaves or [self._terms.true])
        if answer.status != "sat":
            reason = open_results or "the solver takes too long"
            raise _Found(NotProved(f"{difference.where} may differ, but {reason}"))
        raise _Found(Refuted(arguments.input(answer.values), difference.where))


def _is_dynamic(types: Sequence[object]) -> bool:
    return any(
        isinstance(each, ShapedType)
        and (None in each.shape or None in each.strides or each.offset is None)
        for each in types
    )


# --- differences ---


@dataclass(frozen=True, slots=True)
class TermDifference:
    """A scalar, or a whole, that may differ."""

    where: str
    condition: Term


def differences(terms: Terms, source: FunctionRun, target: FunctionRun) -> Iterator[TermDifference]:
    """Yield what may differ; what is the same in each case is left out.

    Raises:
        NotInterpreted: values cannot be compared.
    """
    everything = _Comparison(terms, source, target).all()
    return (each for each in everything if each.condition.value != 0)


class _Comparison:
    def __init__(self, terms: Terms, source: FunctionRun, target: FunctionRun) -> None:
        self._terms = terms
        self._source = source
        self._target = target
        self._places = [places_of(source, 0), places_of(target, 0)]

    def all(self) -> Iterator[TermDifference]:
        before, after = self._source.outcome, self._target.outcome
        if before.is_aborted != after.is_aborted:
            yield self._certain("whether the program ends itself")
            return
        if not before.is_aborted:
            for at, pair in enumerate(zip(before.results, after.results, strict=True)):
                self._places = [places_of(each, at) for each in (self._source, self._target)]
                yield from self._values(f"result {at}", *pair)
        yield from self._events()
        if before.is_aborted:
            return
        for at, pair in enumerate(zip(self._source.memory, self._target.memory, strict=True)):
            yield from self._buffers(f"memory of argument buffer {at}", *pair)
        for symbol in sorted(before.globals.keys() & after.globals.keys()):
            where = f"global @{symbol}"
            yield from self._buffers(where, before.globals[symbol], after.globals[symbol])

    def _certain(self, where: str) -> TermDifference:
        return TermDifference(where, self._terms.true)

    def _events(self) -> Iterator[TermDifference]:
        before, after = self._source.outcome.events, self._target.outcome.events
        kinds = [[(each.kind, len(each.operands)) for each in events] for events in (before, after)]
        if kinds[0] != kinds[1]:
            yield self._certain("the order or the number of events")
            return
        for at, (left, right) in enumerate(zip(before, after, strict=True)):
            if left.text != right.text:
                raise NotInterpreted(f"proof with {OTHER_TEXT}")
            for one, other in zip(left.operands, right.operands, strict=True):
                yield from self._values(f"event {at}, {left.kind}", one, other)

    def _values(
        self, where: str, left: RuntimeValue, right: RuntimeValue
    ) -> Iterator[TermDifference]:
        if isinstance(left, ScalarTerm) and isinstance(right, ScalarTerm):
            yield self._scalars(where, left, right)
        elif isinstance(left, Elements) and isinstance(right, Elements):
            if left.shape != right.shape:
                yield self._certain(f"the shape of {where}")
                return
            yield from self._items(where, left.items, right.items)
        elif isinstance(left, MemRef) and isinstance(right, MemRef):
            yield from self._views(where, left, right)
        elif isinstance(left, tuple) and isinstance(right, tuple):
            parts: Any = left, right
            yield from self._items(where, *parts)
        elif left != right:
            raise NotInterpreted(f"proof with a value such as {where}")

    def _scalars(self, where: str, left: ScalarTerm, right: ScalarTerm) -> TermDifference:
        terms = self._terms
        differs = terms.or_(right.poison, terms.not_(terms.eq(left.term, right.term)))
        return TermDifference(where, terms.and_(terms.not_(left.poison), differs))

    def _items(
        self, where: str, left: Sequence[RuntimeValue], right: Sequence[RuntimeValue]
    ) -> Iterator[TermDifference]:
        if len(left) != len(right):
            yield self._certain(f"the length of {where}")
            return
        for at, pair in enumerate(zip(left, right, strict=True)):
            yield from self._values(f"element {at} of {where}", *pair)

    def _buffers(
        self, where: str, left: Buffer | None, right: Buffer | None
    ) -> Iterator[TermDifference]:
        assert left is not None
        assert right is not None
        if left.is_alive != right.is_alive:
            yield self._certain(f"whether the {where} is freed")
        elif left.is_alive:
            yield from self._items(where, left.items, right.items)

    def _views(self, where: str, left: MemRef, right: MemRef) -> Iterator[TermDifference]:
        if left.sizes != right.sizes:
            yield self._certain(f"the sizes of {where}")
            return
        if not left.buffer.is_alive:
            return
        if not right.buffer.is_alive:
            yield self._certain(f"whether {where} may be accessed")
            return
        places = [
            known.get(id(view.buffer))
            for known, view in zip(self._places, (left, right), strict=True)
        ]
        if places[0] != places[1] or (places[0] and left.places != right.places):
            raise NotInterpreted(f"proof where {where} shares other memory than before")
        seen = [[view.buffer.items[place] for place in view.places] for view in (left, right)]
        yield from self._items(where, *seen)
