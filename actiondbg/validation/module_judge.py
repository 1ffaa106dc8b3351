"""Judges all functions of a module: whether they do after an action what they did before."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace

from actiondbg.errors import ActiondbgError
from actiondbg.validation.domain import reason
from actiondbg.validation.function_judge import FunctionJudge, KnownPieces, make_runner
from actiondbg.validation.function_judgement import (
    FunctionJudgement,
    JudgementLimits,
    Query,
    in_module,
)
from actiondbg.validation.program import (
    FunctionPair,
    Module,
    Operation,
    is_same,
    references,
    structure,
    walk,
)
from actiondbg.validation.program_reader import ProgramReader

# Passes that look at one function at a time, whatever they run on.
_LOCAL = frozenset({"canonicalize", "cse"})
_LEAST_SECONDS = 0.05  # for a function
_MOST_KNOWN = 2**12  # pieces of functions
_MODULES = 2  # of the latest query, which the next one may share
_MOST_TEXT = 2**22  # characters of more modules that are kept
_STEPS_IN_A_SECOND = 40_000  # of the interpreter, at least


class ModuleJudge:
    """Judges queries, one after the other.

    Args:
        limits: of each judgement.

    Raises:
        IRNotParsed: MLIR's Python bindings are not installed.
    """

    def __init__(self, limits: JudgementLimits | None = None) -> None:
        self._limits = limits or JudgementLimits()
        self._runner = make_runner(self._limits, f"judge-{os.getpid()}")
        self._reader = ProgramReader()
        self._modules: dict[str, Module] = {}
        self._known: KnownPieces = {}

    def judge(self, query: Query, seconds: float | None = None) -> list[FunctionJudgement]:
        """Judge each chosen function that the texts of a query have; equal ones are left out.

        The seconds are for all functions together, of which one may take what others leave, up to
        what the limits allow; None for what they allow.
        """
        try:
            before, after = (self._module(text, query) for text in (query.before, query.after))
        except ActiondbgError as error:
            return [FunctionJudgement(query.symbol, "unknown", "none", reason(error))]
        except Exception as error:
            return [FunctionJudgement(query.symbol, "unknown", "none", _fault(error))]
        symbols = [query.symbol] if query.symbol else list(before.functions)
        changed = [each for each in symbols if not is_same(before, after, [each])]
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        total = self._limits.seconds_for(query) if seconds is None else seconds
        end = time.monotonic() + total

        def judged(symbols: list[str]) -> Iterator[FunctionJudgement]:
            pairs = [FunctionPair(each, before, after, query.suspect) for each in symbols]
            return self._functions(pairs, end)

        found = list(judged([each for each in changed if self._limits.chooses(each)]))
        if not query.symbol:
            found += _inner_modules(before, after, self._limits)
            found += () if self._limits.func else _unused_globals(before, after)
        if query.symbol or query.suspect in _LOCAL:
            return found
        # What is found of a private function depends on its callers, chosen or not.
        callers = before.callers()
        doubtful = [each.symbol for each in found if each.verdict == "different"]
        private = [each for each in doubtful if before.functions[each].is_private]
        around = set[str]().union(*(_reached(each, callers) for each in private))
        others = [each for each in changed if each in around and not self._limits.chooses(each)]
        return _interprocedural([*found, *judged(others)], before)[: len(found)]

    def _functions(self, pairs: list[FunctionPair], end: float) -> Iterator[FunctionJudgement]:
        """Yield the judgements of functions, which share the time up to the end."""
        most = self._limits.seconds
        for left, pair in zip(range(len(pairs), 0, -1), pairs, strict=True):
            share = max((end - time.monotonic()) / left, _LEAST_SECONDS)
            steps = min(self._limits.steps, int(share * _STEPS_IN_A_SECOND))
            limits = replace(self._limits, seconds=min(share, most), steps=steps)
            judged = self._function(pair, limits)
            if judged is not None:
                yield judged

    def _module(self, text: str, query: Query) -> Module:
        if query.symbol:
            text = in_module(text, query.symbol, query.module)
        module = self._modules.pop(text, None) or self._reader.read(text)
        self._modules[text] = module  # the latest one is the last
        while len(self._modules) > _MODULES and sum(map(len, self._modules)) > _MOST_TEXT:
            del self._modules[next(iter(self._modules))]
        return module

    def _function(self, pair: FunctionPair, limits: JudgementLimits) -> FunctionJudgement | None:
        symbol = pair.symbol
        if symbol not in pair.before.functions:
            return FunctionJudgement(symbol, "unknown", "none", "there is no such function before")
        if symbol not in pair.after.functions:
            callers = pair.before.callers().get(symbol, ())
            if pair.source.is_private and all(map(limits.chooses, callers)):
                return None  # its callers are judged
            return FunctionJudgement(symbol, "unknown", "none", "the function is gone")
        if pair.source.body is None and pair.target.body is None:
            return None
        types = (pair.source.inputs, pair.source.results)
        if types != (pair.target.inputs, pair.target.results) and not pair.is_bufferized:
            return FunctionJudgement(symbol, "unknown", "none", "its type changes")
        if pair.source.body is None or pair.target.body is None:
            return FunctionJudgement(symbol, "unknown", "none", "a declaration has no body")
        try:
            return FunctionJudge(pair, limits, self._runner, self._known).judge()
        except Exception as error:  # a fault of ours costs this function only
            return FunctionJudgement(symbol, "unknown", "none", _fault(error))


def _inner_modules(
    before: Module, after: Module, limits: JudgementLimits
) -> Iterator[FunctionJudgement]:
    """Yield judgements of changed modules in a module, whose functions are not read."""
    for symbol in dict.fromkeys([*before.others, *after.others]):
        tops = [module.operation(symbol) for module in (before, after)]
        holds = any(
            each.name.endswith(".func") and limits.chooses(str(each.attributes.get("sym_name")))
            for top in tops
            if top
            for each in walk(top)
        )
        if holds and before.structure(symbol) != after.structure(symbol):
            yield FunctionJudgement(
                symbol, "unknown", "none", "a module in a module is not looked into"
            )


def _unused_globals(before: Module, after: Module) -> Iterator[FunctionJudgement]:
    """Yield judgements of changed globals that nothing in the module uses, and other ones may."""
    functions = [each for module in (before, after) for each in module.functions.values()]
    used = {name for each in functions for name in references(each.operation)}
    for symbol, operation in before.others.items():
        is_private = operation.attributes.get("sym_visibility") == "private" or any(
            word in str(operation.attributes.get("linkage")) for word in ("private", "internal")
        )
        if symbol in used or is_private or not operation.name.endswith(".global"):
            continue
        kept = after.operation(symbol)
        if kept is not None and kept.name != operation.name:  # it is only lowered
            continue
        if kept is None or _value(kept) != _value(operation):
            yield FunctionJudgement(
                symbol, "unknown", "none", "it changes, and no function here uses it"
            )


def _value(operation: Operation) -> str:
    """Return what others read of a global, and whether they may write to it."""
    values = [operation.attributes.get(each) for each in ("initial_value", "value", "constant")]
    return f"{values!r} {structure(operation) if operation.regions else ''}"


def _interprocedural(judged: list[FunctionJudgement], before: Module) -> list[FunctionJudgement]:
    """Doubt the difference of a function that the module calls, and none of whose callers differs.

    A pass may use what it knows of the arguments of all calls.
    """
    different = {each.symbol for each in judged if each.verdict == "different"}
    callers = before.callers()
    found: list[FunctionJudgement] = []
    for each in judged:
        function = before.functions.get(each.symbol)
        is_doubted = (
            each.verdict == "different"
            and function is not None
            and function.is_private
            and callers[each.symbol] - {each.symbol}
            and not _reached(each.symbol, callers) & different
        )
        detail = f"{each.detail}, and no caller differs"
        doubted = replace(each, verdict="unknown", detail=detail, is_doubted=True)
        found.append(doubted if is_doubted else each)
    return found


def _reached(symbol: str, callers: dict[str, set[str]]) -> set[str]:
    """Return the functions that call one, and those that call these."""
    found: set[str] = set()
    left = [symbol]
    while left:
        new = callers.get(left.pop(), set()) - found
        found |= new
        left += new
    return found


def _fault(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"the files of a real run cannot be written: {error.strerror}"
    return f"internal error: {type(error).__name__}: {error}"
