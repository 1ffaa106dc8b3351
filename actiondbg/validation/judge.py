"""Judges whether functions do after an action what they did before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache

from actiondbg.errors import ActiondbgError
from actiondbg.validation.contexts import in_module
from actiondbg.validation.judgement import Judgement, Limits, Query
from actiondbg.validation.program import Module, Operation, Symbol, structure, walk
from actiondbg.validation.reading import ProgramReader
from actiondbg.validation.trial import Pair, Trial, make_runner, reason


class Judge:
    """Judges queries, one after the other.

    Args:
        limits: of each judgement.

    Raises:
        IRNotParsed: MLIR's Python bindings are not installed.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._runner = make_runner(self._limits, f"judge-{os.getpid()}")
        self._reader = ProgramReader()
        self._read = lru_cache(16)(self._reader.read)

    def judge(self, query: Query) -> list[Judgement]:
        """Judge each function that the texts have; equal ones are left out."""
        try:
            before, after = (self._module(text, query) for text in (query.before, query.after))
        except ActiondbgError as error:
            return [Judgement(query.symbol, "unknown", "none", reason(error))]
        except Exception as error:
            return [Judgement(query.symbol, "unknown", "none", _fault(error))]
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
            return Trial(pair, self._limits, self._runner).judge()
        except Exception as error:  # a fault of ours costs this function only
            return Judgement(symbol, "unknown", "none", _fault(error))


def _fault(error: Exception) -> str:
    return f"internal error: {type(error).__name__}: {error}"


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
