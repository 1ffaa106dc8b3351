"""Judges one function before and after an action: by chosen inputs, a proof, and real runs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from math import prod
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeGuard

from actiondbg.support.counts import counted
from actiondbg.validation.agreement import NO_MEMORY, OTHER_TEXT, FunctionRun, disagreement
from actiondbg.validation.changed_nests import changed_nests
from actiondbg.validation.concrete import Concrete
from actiondbg.validation.domain import (
    NotInterpreted,
    OpenRace,
    OutOfBudget,
    Race,
    UndefinedBehaviour,
    Unsettled,
    reason,
)
from actiondbg.validation.execution.harness import Test
from actiondbg.validation.execution.lowerings import PLAIN, Lowering
from actiondbg.validation.execution.real_runs import (
    Differs,
    NotRun,
    annotated,
    confirm,
    judge_by_running,
)
from actiondbg.validation.execution.runner import ExecutedCall, Runner
from actiondbg.validation.function_judgement import (
    Counterexample,
    Equivalence,
    EvidenceKind,
    FunctionJudgement,
    JudgementLimits,
)
from actiondbg.validation.inputs import (
    Choice,
    Input,
    View,
    aliased,
    choose_inputs,
    edges_in,
    floats_in,
    materialize,
    numbers_in,
    sizes_in,
)
from actiondbg.validation.interpreter import run_function
from actiondbg.validation.pieces import NotScaled, Uncut, cuts, scaled
from actiondbg.validation.program import (
    Function,
    FunctionPair,
    Module,
    called,
    is_mutable,
    is_same,
    references,
    walk,
)
from actiondbg.validation.proof.exploration import ProofLimits
from actiondbg.validation.proof.refinement import ProofResult, Proved, Refuted, prove
from actiondbg.validation.reservations import frees_others, has_elided, reservation
from actiondbg.validation.strictness import PARALLEL_LOOPS, strictness
from actiondbg.validation.types import INDEX, INDEX_WIDTH, IntegerType, ShapedType, Type

# Small pieces first; the depth is that of operations before the values that both versions have.
_CUTS = ((True, 0), (True, 3), (False, 0), (False, 3))
_CUT_INPUTS = 16  # for a changed value
_MOST_TRIED = 8  # inputs for each one with defined behaviour
_FEWEST_INPUTS = 3  # where numbers are arguments, on which loops and places depend
_MOST_ENDLESS = 8  # inputs on which a run takes too long
_MOST_WITHOUT_MEANING = 8  # inputs that cannot be interpreted, before the first that can
_STEPS_AFTER_ENDLESS = 16  # after one, so many times fewer steps for runs before the action
_SHARE_OF_LARGER = 8  # of the steps left for all larger inputs, for a run before the action
_STEPS_FOR_ELEMENT = 4  # at least
_LEAST_SECONDS = 2.0  # for a command
# Passes that run more than was run, of dialects whose operations LLVM takes for harmless.
_HOISTING = frozenset({"loop-invariant-code-motion"})
_HOISTED = ("tensor.", "linalg.")
_MANY_ELEMENTS = 2**12  # of arguments, with which runs take long
_REAL_ELEMENTS = 2**14  # of all inputs together, about
_REAL_INPUTS = 6  # with which a function that is not interpreted is run
_MOST_REAL_INPUTS = 24  # with the inputs that have numbers of the program
_VARIED_RUNS = 4  # with other last bits
_RACE_INPUTS = 2  # with which it is looked for races


# By their structures before and after; networks have the same layers many times.
KnownPieces = dict[tuple[str | None, ...], EvidenceKind]


class _Difference(NamedTuple):
    """An input on which the interpreter sees a difference."""

    input: Input
    where: str  # what differs, with both values
    before: FunctionRun
    after: FunctionRun | None  # the run after; None if it has no defined behaviour

    @property
    def is_undefined(self) -> bool:
        """Whether runs may not show it: poison, freed memory, undefined behaviour after."""
        is_open = self.after is None or self.after.has_frozen
        return is_open or self.where.endswith(("poison after", NO_MEMORY))


class _Doubt(Exception):
    """Something seems to differ, and it is not certain; says what."""


class _Endless(OutOfBudget):
    """The run after takes too long, and the one before does not."""


@dataclass
class FunctionJudge:
    """Judges one function."""

    _pair: FunctionPair  # the function
    _limits: JudgementLimits  # of the judgement
    _runner: Runner | None = None  # of lowered programs; None for no real runs
    # Pieces of functions that are equivalent, to which new ones are added.
    _known: KnownPieces = field(default_factory=KnownPieces)
    _inputs: int = 0
    _alias: str = ""
    _undefined: str = ""  # why the last input has no defined behaviour before
    _is_run: bool = False  # real runs decided
    _is_cut_short: bool = False  # there was no time for more than very few inputs
    _endless: Input | None = None  # on which the run after takes too long, and the one before not
    # How a changed value may differ that was judged alone.
    _differing: _Difference | None = None
    _open: str = ""  # why the last difference may be allowed: the results before are open

    def __post_init__(self) -> None:
        self._strictness = strictness(self._pair.before, self._pair.after, self._pair.symbol)
        self._start = time.monotonic()
        self._source_steps = self._limits.steps
        self._steps_of_larger = self._limits.steps // 2  # left for all larger inputs, about

    def judge(self) -> FunctionJudgement:
        """Return the judgement."""
        found = self._judged()
        if found.verdict != "equivalent":
            return found
        before, after, symbol = self._pair.before, self._pair.after, self._pair.symbol
        is_proved = found.evidence == "proof"
        but = reservation(
            before,
            after,
            symbol,
            is_proved=is_proved,
            is_run=self._is_run,
            has_specials=self._strictness.bits,
        )
        if not but:
            return found
        return self._judgement("unknown", found.evidence, f"{found.detail}, {but}")

    def _judged(self) -> FunctionJudgement:
        if self._pair.is_bufferized:
            return self._bufferized()
        by_cuts = self._by_cuts(are_proved=True)
        if by_cuts is not None:
            return by_cuts
        by_sizes = self._by_smaller_sizes()
        if by_sizes is not None:
            return by_sizes
        try:
            found = self._first_difference()
        except _Doubt as doubt:
            return self._by_cuts() or self._judgement("unknown", "none", str(doubt))
        except OpenRace as error:
            return self._judgement("unknown", "none", str(error))
        except (NotInterpreted, OutOfBudget) as error:
            return self._by_cuts() or self._by_real_runs(reason(error))
        if found is not None:
            return self._different(found)
        return self._by_proof()

    def _bufferized(self) -> FunctionJudgement:
        """Judge a function whose tensors became memrefs, with the same elements."""
        by_sizes = self._by_smaller_sizes()
        if by_sizes is not None:
            return by_sizes
        try:
            found = self._first_difference()
        except (_Doubt, NotInterpreted, OutOfBudget) as error:
            return self._judgement("unknown", "none", f"its type changes, and {reason(error)}")
        if found is not None:  # no second way calls functions of two types
            detail = f"its type changes, and it is interpreted to differ ({found.where})"
            return self._judgement("unknown", "execution", detail)
        if self._open or not self._inputs:
            why = self._open or "no input is defined"
            return self._judgement("unknown", "none", f"its type changes, and {why}")
        detail = f"the same on {counted(self._inputs, 'input')}, as tensors and as memrefs"
        return self._judgement("equivalent", "execution", detail)

    def _by_smaller_sizes(self) -> FunctionJudgement | None:
        """Judge a function of large arguments with small ones; None if that does not decide."""
        pair = self._pair
        if self._elements <= _MANY_ELEMENTS:
            return None
        try:
            smaller = FunctionJudge(scaled(pair), self._limits)
            agreement = smaller.agreement()
        except (NotScaled, OutOfBudget):
            return None
        if agreement is None:
            return None
        self._inputs = smaller._inputs
        self._is_cut_short = smaller._is_cut_short and agreement != "proof"
        return self._tested(f"the same on {counted(self._inputs, 'input')} of smaller sizes")

    def _judgement(
        self,
        verdict: Equivalence,
        evidence: EvidenceKind,
        detail: str,
        counterexample: Counterexample | None = None,
    ) -> FunctionJudgement:
        return FunctionJudgement(
            self._pair.symbol,
            verdict,
            evidence,
            detail,
            self._inputs,
            counterexample,
            self._taken,
            changed_nests(self._pair.source, self._pair.target) if verdict == "different" else (),
        )

    @property
    def _left(self) -> float:
        """The seconds left; a few, also if none is."""
        return max(self._limits.seconds - self._taken, 0.1)

    @property
    def _taken(self) -> float:
        return time.monotonic() - self._start

    # --- interpretation ---

    def _first_difference(self) -> _Difference | None:
        endless: list[OutOfBudget] = []
        without_meaning: list[NotInterpreted] = []
        for input in self._chosen():
            if input.elements * _STEPS_FOR_ELEMENT > self._limits.steps:
                raise OutOfBudget(f"the arguments have {input.elements:,} elements")
            try:
                found = self._compared_larger(input) if input.is_larger else self._compared(input)
            except OpenRace:
                raise
            except NotInterpreted as error:  # such as a reduction of nothing; others may do
                found = None
                without_meaning.append(error)
            except OutOfBudget as error:  # such as a loop with a large number; others may do
                found = None
                endless.append(error)
                self._source_steps = self._limits.steps // _STEPS_AFTER_ENDLESS
            if found is not None:
                return found
            is_late = self._taken > self._limits.seconds / 2
            if self._inputs >= self._limits.inputs or is_late or len(endless) == _MOST_ENDLESS:
                self._is_cut_short = self._inputs < min(_FEWEST_INPUTS, self._limits.inputs)
                break
            if not self._inputs and len(without_meaning) == _MOST_WITHOUT_MEANING:
                break
        fatal = [each for each in endless if isinstance(each, _Endless) or not self._inputs]
        errors = [*without_meaning, *fatal]
        if errors:
            raise errors[0]
        return None

    @property
    def _elements(self) -> int:
        """The elements of all arguments; dynamic sizes, which are chosen, are not counted."""
        types = (each for each in self._pair.source.inputs if isinstance(each, ShapedType))
        return sum(prod(size or 0 for size in each.shape) for each in types)

    def _chosen(self) -> Iterator[Input]:
        """Yield inputs.

        Raises:
            OutOfBudget: the arguments are too large to be made and run over.
        """
        if self._elements * _STEPS_FOR_ELEMENT > self._limits.steps:
            raise OutOfBudget(f"the arguments have {self._elements:,} elements")
        source = self._pair.source
        choice = Choice(
            self._numbers,
            sizes_in(self._functions, self._numbers),
            edges_in(self._functions),
            floats_in(self._functions),
            exact_floats=not self._strictness.bits,
            index_bits=self._limits.index_bits,
            may_be_poison=self._limits.may_be_poison,
        )
        types = self._pair.target.inputs if self._pair.is_bufferized else source.inputs
        most = self._limits.inputs * _MOST_TRIED if types else 1
        for input in islice(choose_inputs(types, choice), most):
            if input.is_larger and self._steps_of_larger <= 0:
                continue
            yield input
            shared = aliased(input, types)
            if shared is not None and not self._pair.is_bufferized:
                yield shared

    @cached_property
    def _functions(self) -> list[Function]:
        pair = self._pair
        return [*called(pair.before, pair.symbol), *called(pair.after, pair.symbol)]

    @cached_property
    def _numbers(self) -> tuple[int, ...]:
        """The numbers of the program, near which something may happen."""
        return numbers_in(self._functions)

    def _compared(self, input: Input, steps: int = 0) -> _Difference | None:
        """Run both on an input; before the action with no more than some steps; 0 for the usual.

        Raises:
            _Doubt: they seem to differ.
            OutOfBudget: a run takes too long.
        """
        if input.is_aliased and self._alias:
            return None
        after: FunctionRun | None = None
        try:
            before = self._run(self._pair.before, input, steps or self._source_steps)
        except (UndefinedBehaviour, Unsettled) as error:
            self._undefined = f": {error}"
            return None
        try:
            after = self._run(self._pair.after, input, self._limits.steps)
        except Unsettled:
            return None
        except OutOfBudget as error:
            raise self._too_long(input, before, error) from None
        except UndefinedBehaviour as error:
            where = self._undefined_after(error)
        else:
            where = self._disagreement(input, before, after)
        if where is None:
            self._inputs += 1
            return None
        if self._is_excused(input, before, where):
            return None
        unknown = before.outcome.unknown | (after.outcome.unknown if after else frozenset[str]())
        if unknown:
            names = ", ".join(sorted({str(name).partition(" ")[0] for name in unknown}))
            raise _Doubt(f"seems to differ, but nothing is known of {names}")
        return _Difference(input, where, before, after)

    def _compared_larger(self, input: Input) -> _Difference | None:
        """Run both on an input of larger sizes; on no more of these if it takes too long."""
        try:
            return self._compared(input, max(self._steps_of_larger // _SHARE_OF_LARGER, 1))
        except _Endless:
            raise
        except OutOfBudget:
            self._steps_of_larger = 0
            return None

    def _too_long(self, input: Input, before: FunctionRun, error: OutOfBudget) -> OutOfBudget:
        """Return what it means that the run after an action takes too long."""
        # Loops over tiles may copy the whole for each one.
        if input.is_larger and before.outcome.steps**2 >= self._limits.steps:
            return error
        self._endless = input
        return _Endless(f"after the action, {error}")

    def _disagreement(self, input: Input, before: FunctionRun, after: FunctionRun) -> str | None:
        """Return what differs, also if each poison is frozen alike before."""
        where = disagreement(before, after, self._strictness)
        if where is None or not before.has_frozen:
            return where
        try:
            before = self._run(self._pair.before, input, self._source_steps, freezes_alike=True)
        except UndefinedBehaviour:
            return None
        except (OutOfBudget, Unsettled):
            return where
        return disagreement(before, after, self._strictness)

    def _is_excused(self, input: Input, before: FunctionRun, where: str) -> bool:
        """Whether a difference decides nothing; note why."""
        if input.is_aliased and not self._limits.aliased:
            self._alias = "; not the same where memref arguments overlap (--aliased)"
            return True
        if where.startswith(OTHER_TEXT):
            self._open = f"nothing differs but {where}"
            return True
        if input.has_specials and not self._strictness.bits:
            what = "NaNs or infinities make a difference"
            self._open = f"the order of operations is open, and {what} ({where})"
            return True
        if self._is_ill_conditioned(input, before):
            self._open = f"the order of operations is open, and rounding decides ({where})"
            return True
        if before.has_frozen:
            self._open = f"freeze leaves a value of poison open ({where})"
        return before.has_frozen

    def _is_ill_conditioned(self, input: Input, before: FunctionRun) -> bool:
        """Whether other last bits of what rounds, where they are open, make another result."""
        if self._strictness.bits:
            return False
        for seed in range(_VARIED_RUNS):
            try:
                varied = self._run(
                    self._pair.before, input, self._source_steps, chance=Random(seed)
                )
            except (OutOfBudget, UndefinedBehaviour, Unsettled):
                return True
            if disagreement(before, varied, self._strictness):
                return True
        return False

    def _undefined_after(self, error: UndefinedBehaviour) -> str:
        if self._pair.suspect in _HOISTING and error.operation.startswith(_HOISTED):
            raise _Doubt(f"{error.operation} may be run where it was not: {error}") from None
        return f"undefined behaviour after, none before: {error}"

    def _run(
        self,
        module: Module,
        input: Input,
        steps: int,
        *,
        freezes_alike: bool = False,
        chance: Random | None = None,
    ) -> FunctionRun:
        is_source = module is self._pair.before
        domain = Concrete(is_source, freezes_alike=freezes_alike, chance=chance)
        function = module.functions[self._pair.symbol]
        arguments, memory = materialize(input, function.inputs, domain.constant)
        try:
            outcome = run_function(
                module, self._pair.symbol, arguments, domain, steps=steps, shown=self._globals
            )
        except OpenRace as error:
            when = "before" if is_source else "after"
            raise OpenRace(f"{when} the action, {error}") from None
        if input.is_larger:
            self._steps_of_larger -= outcome.steps
        tensors = {
            argument.buffer
            for argument, type in zip(input.arguments, function.inputs, strict=True)
            if isinstance(argument, View) and isinstance(type, ShapedType) and type.kind == "tensor"
        }
        kept = [None if at in tensors else buffer for at, buffer in enumerate(memory)]
        return FunctionRun(outcome, kept, function.results, domain.frozen > 0)

    @cached_property
    def _globals(self) -> list[str]:
        """The globals that a version may change, and that somebody may read after the action."""
        pair = self._pair
        used = {name for each in self._functions for name in references(each.operation)}
        readers = pair.after.functions.values()
        read = {name for each in readers for name in references(each.operation)}
        return [
            name
            for name, operation in pair.after.others.items()
            if name in used
            and name in pair.before.others
            and is_mutable(operation)
            and (name in read or operation.attributes.get("sym_visibility") != "private")
        ]

    # --- cuts ---

    def _by_cuts(self, are_proved: bool = False) -> FunctionJudgement | None:
        """Judge what differs in the function, piece by piece; None if that does not decide.

        To be proved, nothing may be left to be compared.
        """
        pair = self._pair
        used = set(references(pair.source.operation)) | set(references(pair.target.operation))
        if not is_same(pair.before, pair.after, used - {pair.symbol}):
            return None
        self._differing = None
        for are_paired, depth in _CUTS:
            try:
                pieces = cuts(pair.source, pair.target, depth, are_paired=are_paired)
            except Uncut:
                continue
            if not pieces:
                detail = "proved: the same operations of the same values"
                return self._judgement("equivalent", "proof", detail)
            if are_proved:
                return None
            found = self._pieces(pieces)
            if found is not None:
                return found
            if are_paired:  # other operands of the same operation may have the same result
                self._differing = None
        return None

    def _pieces(self, pieces: Sequence[FunctionPair]) -> FunctionJudgement | None:
        ways: set[EvidenceKind] = set()
        for piece in pieces:
            structures = (each.structure(piece.symbol) for each in (piece.before, piece.after))
            key = (*structures, str(piece.has_small_indices))
            way = self._known.get(key) or self._agreement(piece)
            if way is None:
                return None
            self._known[key] = way
            ways.add(way)
        what = counted(len(pieces), "changed value")
        if ways == {"proof"}:
            return self._judgement("equivalent", "proof", f"proved: {what}")
        return self._judgement("equivalent", "execution", f"{what}, each the same when it is run")

    def _agreement(self, piece: FunctionPair) -> EvidenceKind | None:
        """Return by which way a cut is found equivalent; if it is large, with smaller sizes."""
        limits = replace(
            self._limits,
            inputs=_CUT_INPUTS,
            seconds=self._left / 4,
            any_index=self._limits.any_index or not piece.has_small_indices,
            may_be_poison=True,
        )
        try:
            smaller = scaled(piece)
        except NotScaled:
            smaller = None
        judge = FunctionJudge(smaller or piece, limits)
        try:
            agreement = judge.agreement()
        except OutOfBudget:
            return None
        self._differing = judge._differing or self._differing
        return agreement and "execution" if smaller else agreement

    def agreement(self) -> EvidenceKind | None:
        """Return by which way the function is found equivalent; None if it is not.

        Raises:
            OutOfBudget: it is too large.
        """
        try:
            found = self._first_difference()
            if found is not None:
                self._differing = found
                return None
        except (_Doubt, NotInterpreted):
            return None
        if self._pair.is_bufferized:
            return "execution" if self._inputs and not self._open else None
        found = self._proved()
        if isinstance(found, Proved) and found.bounds is None:
            return "proof"
        is_doubted = self._open or self._is_refuted(found)
        return "execution" if self._inputs and not is_doubted else None

    # --- the second way ---

    def _different(self, found: _Difference) -> FunctionJudgement:
        """Judge a function of which the interpreter sees a difference."""
        confirmed, tests, is_refuted = "", None, False
        doubt = "its program cannot be lowered and run"
        if self._runner is not None:
            pair = self._pair
            self._runner.seconds = max(self._left / 2, _LEAST_SECONDS)
            confirmation = confirm(
                self._runner,
                pair.before.source,
                pair.after.source,
                pair.symbol,
                found.input,
                found.before,
                found.after,
            )
            doubt = confirmation.reason
            if confirmation.tests and confirmation.before and confirmation.after:
                tests = self._tests(
                    confirmation.tests,
                    confirmation.before,
                    confirmation.after,
                    confirmation.lowering or PLAIN,
                )
            if confirmation.verdict == "confirmed":
                confirmed = f"confirmed by real runs: {confirmation.reason}"
            # The solver shares the meaning of all but scalars: it is no second way against runs.
            is_refuted = confirmation.verdict == "same" and not found.is_undefined
        if not confirmed and not is_refuted:
            proved = self._proved()
            if isinstance(proved, Refuted):
                confirmed = f"confirmed by the solver: {proved.where}"
        if not confirmed:
            detail = f"interpreted to differ ({found.where}), which is not confirmed: {doubt}"
            return self._judgement("unknown", "execution", detail)
        counterexample = Counterexample(found.input, found.where, confirmed, tests)
        return self._judgement("different", "execution", found.where, counterexample)

    def _proved(self) -> ProofResult:
        limits = ProofLimits(
            seconds=self._left,
            query_seconds=self._left / 3,
            index_bits=self._limits.index_bits,
            may_be_poison=self._limits.may_be_poison,
        )
        pair = self._pair
        return prove(pair.before, pair.after, pair.symbol, limits)

    def _tests(
        self,
        tests: tuple[Test, Test],
        before: ExecutedCall,
        after: ExecutedCall,
        lowering: Lowering,
    ) -> tuple[str, str]:
        """Return the counterexample as programs."""
        assert self._runner is not None
        texts: list[str] = []
        for name, test, got in zip(("before", "after"), tests, (None, after), strict=True):
            title = f"Calls @{self._pair.symbol} as it is {name} the action."
            commands = self._runner.commands(test, f"counterexample-{name}.mlir", lowering)
            texts.append(annotated(test, title, commands, before, got))
        return texts[0], texts[1]

    def _by_proof(self) -> FunctionJudgement:
        """Judge a function of which the interpreter sees no difference."""
        tested = f"the same on {counted(self._inputs, 'input')}{self._alias}"
        found = self._proved()
        if self._is_refuted(found):
            return self._refuted(found)
        if isinstance(found, Proved) and found.bounds is None:
            return self._judgement("equivalent", "proof", f"proved{self._assumed}{self._alias}")
        if self._open:
            return self._judgement("unknown", "none", self._open)
        bounds = f"; proved {found.bounds}" if isinstance(found, Proved) else ""
        if self._inputs:
            return self._tested(tested, bounds)
        if isinstance(found, Proved):
            return self._judgement("equivalent", "execution", f"proved {found.bounds}")
        detail = "no input was found for which the program before has defined behaviour"
        return self._judgement("unknown", "none", f"{detail}{self._undefined}")

    def _tested(self, tested: str, bounds: str = "") -> FunctionJudgement:
        """Judge a function that is the same on all inputs; whole numbers may hide a value."""
        if self._is_cut_short and any(map(_is_number, self._pair.source.inputs)):
            detail = f"{tested}; there was no time for more, and numbers or sizes are arguments"
            return self._judgement("unknown", "execution", detail)
        is_open = not self._strictness.bits and not self._pair.is_bufferized
        if is_open and not self._by_cuts() and self._differing:
            return self._judgement("unknown", "execution", f"{tested}, {self._doubt_of_value}")
        return self._judgement("equivalent", "execution", f"{tested}{bounds}")

    def _is_refuted(self, found: ProofResult) -> TypeGuard[Refuted]:
        """Whether a proof found a difference.

        Large and special floats may differ by nothing but an order that is open.
        """
        return isinstance(found, Refuted) and (self._strictness.bits or found.input.is_exact)

    @property
    def _doubt_of_value(self) -> str:
        assert self._differing is not None
        return f"which do not show a changed value{self._differing.where.removeprefix('result 0')}"

    @property
    def _assumed(self) -> str:
        """What a proof assumes of indices, if arguments are."""
        bits = self._limits.index_bits
        inputs = self._pair.source.inputs
        has_index = any(
            (each.element if isinstance(each, ShapedType) else each) == INDEX for each in inputs
        )
        return f" for indices of {bits} bits" if has_index and bits < INDEX_WIDTH else ""

    def _refuted(self, found: Refuted) -> FunctionJudgement:
        """Judge a function by the counterexample of the solver."""
        try:
            seen = self._compared(found.input)
        except (_Doubt, NotInterpreted, OutOfBudget) as error:
            seen = None
            found_reason = reason(error)
        else:
            found_reason = self._open or "the interpreter sees none"
        if seen is not None:
            return self._different(seen)
        detail = f"the solver sees a difference ({found.where}), and {found_reason}"
        return self._judgement("unknown", "none", detail)

    def _few_inputs(self) -> list[Input]:
        """Return some inputs for real runs, and those with other numbers of the program.

        Functions of numbers run fast, unless each run needs a process: they get more. Of large
        inputs, there are fewer.
        """
        chosen: list[Input] = []
        elements = tried = 0
        numbers, seen = set(self._numbers), set[tuple[int, object]]()
        first = [self._endless] if self._endless is not None else []
        for input in chain(first, self._chosen()):
            if input.is_aliased or (input.has_specials and not self._strictness.bits):
                continue
            tried += input.elements
            new = {each for each in enumerate(input.arguments) if each[1] in numbers} - seen
            if len(chosen) < _REAL_INPUTS or new or not input.elements:
                elements += input.elements
                if elements > _REAL_ELEMENTS and not chosen:
                    raise OutOfBudget(f"the arguments have {input.elements:,} elements")
                chosen.append(input)
                seen |= new
            if len(chosen) >= _MOST_REAL_INPUTS or tried >= _REAL_ELEMENTS:
                break
        return chosen

    def _race(self, inputs: Sequence[Input]) -> str:
        """Return how iterations race after the action, which real runs do not show; "" if unseen.

        A race is seen as soon as a second iteration runs, however long the whole would take.
        """
        after = called(self._pair.after, self._pair.symbol)
        names = {inner.name for each in after for inner in walk(each.operation)}
        if names.isdisjoint(PARALLEL_LOOPS):
            return ""
        for input in inputs[:_RACE_INPUTS]:
            try:
                self._run(self._pair.after, input, self._limits.steps)
            except (OpenRace, Race) as error:
                return str(error)
            except (NotInterpreted, OutOfBudget, UndefinedBehaviour, Unsettled):
                continue
        return ""

    def _by_real_runs(self, why: str) -> FunctionJudgement:
        """Judge a function that cannot be interpreted."""
        if self._runner is None:
            return self._judgement("unknown", "none", why)
        if self._limits.seconds < _LEAST_SECONDS:
            return self._judgement("unknown", "none", f"{why}; no time is left for real runs")
        pair = self._pair
        if any(has_elided(module, pair.symbol) for module in (pair.before, pair.after)):
            why = "the recording elides elements of its constants"
            return self._judgement("unknown", "none", why)
        if frees_others(pair.source):
            why = f"{why}; real runs: it frees memory that it has not allocated"
            return self._judgement("unknown", "none", why)
        self._runner.seconds = max(self._left / 4, _LEAST_SECONDS)
        try:
            inputs = self._few_inputs()
        except (NotInterpreted, OutOfBudget) as error:
            return self._judgement("unknown", "none", reason(error))
        race = self._race(inputs)
        if race:
            return self._judgement("unknown", "none", race)
        found = judge_by_running(
            self._runner,
            pair.before.source,
            pair.after.source,
            pair.symbol,
            inputs,
            self._strictness,
            suspect=pair.suspect,
            shown=self._globals,
        )
        if isinstance(found, NotRun):
            return self._judgement("unknown", "none", f"{why}; real runs: {found.reason}")
        if isinstance(found, Differs):
            tests = self._tests(found.tests, found.before, found.after, found.lowering)
            counterexample = Counterexample(found.input, found.where, "by real runs", tests)
            return self._judgement("different", "execution", found.where, counterexample)
        self._inputs, self._is_run = len(found.inputs), True
        detail = f"the same in real runs on {counted(self._inputs, 'input')}"
        is_hidden = not self._strictness.bits  # by whole numbers
        if self._differing is not None and (is_hidden or self._differing.is_undefined):
            return self._judgement("unknown", "execution", f"{detail}, {self._doubt_of_value}")
        return self._judgement("equivalent", "execution", detail)


def _is_number(type: Type) -> bool:
    """Whether an argument of a type is an integer, or has a size that is one."""
    return isinstance(type, IntegerType) or (isinstance(type, ShapedType) and None in type.shape)


def make_runner(limits: JudgementLimits, name: str) -> Runner | None:
    """Return a runner with a folder of its own, if real runs are wanted."""
    if not limits.scratch:
        return None
    folder = Path(limits.scratch) / name
    folder.mkdir(parents=True, exist_ok=True)
    return Runner(Path(limits.tool), folder, seconds=max(limits.seconds / 2, 1.0))
