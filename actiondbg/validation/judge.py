"""Judges whether functions do after an action what they did before."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from actiondbg.errors import ActiondbgError
from actiondbg.support.counts import counted
from actiondbg.validation.agreement import Run, Strictness, disagreement, strictness
from actiondbg.validation.concrete.domain import Concrete
from actiondbg.validation.contexts import in_module
from actiondbg.validation.domain import NotInterpreted, OutOfBudget, UndefinedBehaviour, Unsettled
from actiondbg.validation.inputs import (
    Choice,
    Input,
    aliased,
    choose_inputs,
    materialize,
    numbers_in,
)
from actiondbg.validation.interpreter import run_function
from actiondbg.validation.judgement import (
    Counterexample,
    Evidence,
    Judgement,
    Limits,
    Query,
    Verdict,
)
from actiondbg.validation.program import Function, Module, Operation, Symbol, structure, walk
from actiondbg.validation.reading import ProgramReader

_MOST_TRIED = 8  # inputs for each one with defined behaviour


class Pair(NamedTuple):
    """A function before and after an action, with the modules around it."""

    symbol: str
    before: Module
    after: Module

    @property
    def source(self) -> Function:
        return self.before.functions[self.symbol]

    @property
    def target(self) -> Function:
        return self.after.functions[self.symbol]


class Judge:
    """Judges queries, one after the other.

    Args:
        limits: of each judgement.

    Raises:
        IRNotParsed: MLIR's Python bindings are not installed.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._reader = ProgramReader()
        self._read = lru_cache(16)(self._reader.read)

    def judge(self, query: Query) -> list[Judgement]:
        """Judge each function that the texts have; equal ones are left out."""
        try:
            before, after = (self._module(text, query) for text in (query.before, query.after))
        except ActiondbgError as error:
            return [Judgement(query.symbol, "unknown", "none", _reason(error))]
        symbols = [query.symbol] if query.symbol else list(before.functions)
        judged = [
            self._function(Pair(symbol, before, after))
            for symbol in symbols
            if not _is_same(before, after, symbol)
        ]
        return [each for each in judged if each is not None]

    def _module(self, text: str, query: Query) -> Module:
        if query.symbol:
            text = in_module(text, query.symbol, query.module)
        return self._read(text)

    def _function(self, pair: Pair) -> Judgement | None:
        symbol = pair.symbol
        if symbol not in pair.before.functions:
            return Judgement(symbol, "unknown", "none", "there is no such function before")
        if symbol not in pair.after.functions:
            if pair.source.is_private:
                return None  # its callers are judged
            return Judgement(symbol, "unknown", "none", "the function is gone")
        if pair.source.body is None and pair.target.body is None:
            return None
        types = (pair.source.inputs, pair.source.results)
        if types != (pair.target.inputs, pair.target.results):
            return Judgement(symbol, "unknown", "none", "its type changes")
        if pair.source.body is None or pair.target.body is None:
            return Judgement(symbol, "unknown", "none", "a declaration has no body")
        try:
            return Trial(pair, self._limits).judge()
        except Exception as error:  # a fault of ours costs this function only
            detail = f"internal error: {type(error).__name__}: {error}"
            return Judgement(symbol, "unknown", "none", detail)


class Trial:
    """The runs of a function before and after an action.

    Args:
        pair: the function.
        limits: of the judgement.
    """

    def __init__(self, pair: Pair, limits: Limits) -> None:
        self._pair = pair
        self._limits = limits
        self._strictness: Strictness = strictness((pair.before, pair.after))
        self._start = time.monotonic()
        self._inputs = 0
        self._alias = ""

    def judge(self) -> Judgement:
        """Return the judgement."""
        try:
            found = self._first_difference()
        except (NotInterpreted, OutOfBudget) as error:
            return self._judgement("unknown", "none", _reason(error))
        if isinstance(found, Counterexample):
            return self._judgement("different", "execution", found.difference, found)
        if found:
            return self._judgement("unknown", "execution", found)
        if not self._inputs:
            detail = "no input was found for which the program before has defined behaviour"
            return self._judgement("unknown", "none", detail)
        detail = f"the same on {counted(self._inputs, 'input')}{self._alias}"
        return self._judgement("equivalent", "execution", detail)

    def _judgement(
        self,
        verdict: Verdict,
        evidence: Evidence,
        detail: str,
        counterexample: Counterexample | None = None,
    ) -> Judgement:
        return Judgement(
            self._pair.symbol,
            verdict,
            evidence,
            detail,
            self._inputs,
            counterexample,
            time.monotonic() - self._start,
        )

    def _first_difference(self) -> Counterexample | str | None:
        """Return a difference, why an apparent one proves nothing, or None."""
        for input in self._chosen():
            found = self._compared(input)
            if found is not None:
                return found
            if self._inputs >= self._limits.inputs:
                break
            if time.monotonic() - self._start > self._limits.seconds / 2:
                break
        return None

    def _chosen(self) -> Iterator[Input]:
        source = self._pair.source
        choice = Choice(
            numbers_in((source, self._pair.target)), exact_floats=not self._strictness.bits
        )
        most = self._limits.inputs * _MOST_TRIED if source.inputs else 1
        for input in islice(choose_inputs(source.inputs, choice), most):
            yield input
            shared = aliased(input, source.inputs)
            if shared is not None:
                yield shared

    def _compared(self, input: Input) -> Counterexample | str | None:
        if input.is_aliased and self._alias:
            return None
        try:
            before = self._run(self._pair.before, input)
        except (UndefinedBehaviour, Unsettled):
            return None
        try:
            after = self._run(self._pair.after, input)
        except Unsettled:
            return None
        except UndefinedBehaviour as error:
            found = f"undefined behaviour after, none before: {error}"
            unknown = before.outcome.unknown
        else:
            found = disagreement(before, after, self._strictness)
            unknown = before.outcome.unknown | after.outcome.unknown
        if found is None:
            self._inputs += 1
            return None
        if input.is_aliased and not self._limits.aliased:
            self._alias = "; not the same where memref arguments overlap"
            return None
        if unknown:
            names = ", ".join(sorted(unknown))
            return f"seems to differ, but nothing is known of {names}"
        return Counterexample(input, found)

    def _run(self, module: Module, input: Input) -> Run:
        domain = Concrete()
        function = module.functions[self._pair.symbol]
        arguments, memory = materialize(input, function.inputs, domain)
        outcome = run_function(
            module, self._pair.symbol, arguments, domain, steps=self._limits.steps
        )
        return Run(outcome, memory, function.results)


def _reason(error: Exception) -> str:
    text = str(error).rstrip(".")
    return f"{text} has no meaning here" if isinstance(error, NotInterpreted) else text


def _is_same(before: Module, after: Module, symbol: str) -> bool:
    """Whether a function, and all that it refers to, is the same in both modules."""
    seen: set[str] = set()
    left = [symbol]
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        one, other = (_operation(module, name) for module in (before, after))
        if one is None or other is None:
            if one is not other:
                return False
            continue
        if structure(one) != structure(other):
            return False
        left += _references(one)
    return True


def _operation(module: Module, symbol: str) -> Operation | None:
    function = module.functions.get(symbol)
    return function.operation if function is not None else module.others.get(symbol)


def _references(operation: Operation) -> Iterator[str]:
    """Yield the symbols that an operation, and each one in it, refers to."""
    for inner in walk(operation):
        for value in inner.attributes.values():
            if isinstance(value, Symbol):
                yield value.path[0]
