"""Paths of a program, one after another: each run follows choices that another one left open."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from actiondbg.validation.proof.solver import Solver, SolverAnswer
from actiondbg.validation.proof.terms import Term, Terms
from actiondbg.validation.types import INDEX_WIDTH, signed

_SMALL = 4  # numbers below it are chosen first
_MOST_PATHS = 256
_FIRST_DEPTH = 8  # choices on a path, before others are followed that have fewer


@dataclass(frozen=True, slots=True)
class ProofLimits:
    """How much a proof may take."""

    seconds: float = 20  # altogether
    query_seconds: float = 5  # for a query of the solver
    choices: int = 32  # the most on a path
    steps: int = 200_000  # of the interpreter, of each function on each path
    index_bits: int = INDEX_WIDTH  # arguments of type index are signed numbers of so many bits
    may_be_poison: bool = False  # whether arguments may be


class PathLeft(Exception):
    """The rest of a path is not looked at: it is impossible, or a limit is reached."""


class TimeOver(Exception):
    """The proof took as long as it may."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """A choice on a path."""

    value: int | None  # which is taken; None to find one
    condition: Term | None = None  # of the value
    tried: tuple[int, ...] = ()  # the values of other paths


@dataclass(eq=False)
class Explorer:
    """Runs something once for each path, those with few choices first."""

    terms: Terms
    _solver: Solver
    limits: ProofLimits
    conditions: list[Term] = field(default_factory=list[Term])  # of the path that is followed
    paths: int = 0  # how many were followed to their end
    # The limits that were reached, in words.
    bounds: dict[str, None] = field(default_factory=dict[str, None])
    _choices: list[_Choice] = field(default_factory=list[_Choice])
    _at: int = 0
    _depth: int = 0
    _pending: list[tuple[int, int, list[_Choice]]] = field(
        default_factory=list[tuple[int, int, list[_Choice]]]
    )
    _pushed: int = 0
    _known_possible: bool = True
    _answers: dict[tuple[frozenset[Term], Term], SolverAnswer] = field(
        default_factory=dict[tuple[frozenset[Term], Term], SolverAnswer]
    )

    def __post_init__(self) -> None:
        self._deadline = time.monotonic() + self.limits.seconds

    def restart(self) -> None:
        """Forget which paths were followed, but not how much time is left."""
        self.paths = 0
        self.bounds.clear()

    def each_path(self, run: Callable[[], None]) -> None:
        """Call a function again and again, until it took each way at each choice.

        Raises:
            TimeOver: there is no time left.
        """
        self._pending = []
        self._push([])
        runs = 0
        while self._pending:
            if runs >= _MOST_PATHS:
                self.bounds[f"{self.paths} paths of more"] = None
                return
            self.check_time()
            runs += 1
            _, _, self._choices = heappop(self._pending)
            self.conditions = []
            self._at = 0
            self._depth = max(_FIRST_DEPTH, 2 * len(self._choices))
            self._known_possible = True
            try:
                run()
            except PathLeft:
                continue
            self.paths += 1

    def check_time(self) -> None:
        """Check that there is time left.

        Raises:
            TimeOver: there is none.
        """
        if time.monotonic() > self._deadline:
            raise TimeOver

    def _push(self, choices: list[_Choice]) -> None:
        self._pushed += 1
        heappush(self._pending, (len(choices), self._pushed, choices))

    # --- conditions ---

    def assume(self, condition: Term) -> None:
        """Go on only where a condition holds."""
        if condition.value == 1:
            return
        if condition.value == 0:
            raise PathLeft
        self.conditions.append(condition)
        self._known_possible = False

    def define(self, condition: Term) -> None:
        """Say what a new unknown is, which leaves all others as they are."""
        if condition.value != 1:
            self.conditions.append(condition)

    def ask(self, conditions: Sequence[Term], wanted: Sequence[Term] = ()) -> SolverAnswer:
        """Return whether conditions can hold on this path.

        Raises:
            TimeOver: there is no time left.
        """
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeOver
        asked = self.terms.and_(*conditions)
        key = (frozenset(self.conditions), asked)
        known = self._answers.get(key)
        if known is not None and not wanted:
            return known
        answer = self._solver.check([*self.conditions, *conditions], wanted, left)
        if answer.status != "unknown" and not wanted:
            self._answers[key] = answer
        return answer

    def check_possible(self) -> None:
        """Leave the path if nothing gets there."""
        if self._known_possible:
            return
        if self.ask(()).status == "unsat":
            raise PathLeft
        self._known_possible = True

    # --- choices ---

    def decide(self, condition: Term) -> bool:
        """Return which way to take at a condition."""
        if condition.value is not None:
            return bool(condition.value)
        if self._at < len(self._choices):
            return bool(self._followed(self._choices[self._at]))
        self._check_depth()
        ways = ((1, condition), (0, self.terms.not_(condition)))
        possible = [_Choice(value, way) for value, way in ways if self.ask([way]).status != "unsat"]
        if not possible:
            raise PathLeft
        for other in possible[1:]:
            self._push([*self._choices, other])
        self._choices.append(possible[0])
        return bool(self._followed(possible[0]))

    def choose(self, value: Term, most: int, what: str) -> int:
        """Return a signed number that a bit-vector may be: one of so many, small ones first."""
        if value.value is not None:
            return signed(value.value, value.width)
        if self._at == len(self._choices):
            self._check_depth()
            self._choices.append(_Choice(None))
        choice = self._choices[self._at]
        if choice.value is None:
            found = self._other_value(value, choice.tried, most, what)
            if found is None:
                raise PathLeft
            condition = self.terms.eq(value, self.terms.bv(found, value.width))
            choice = _Choice(found, condition, choice.tried)
            self._push([*self._choices[:-1], _Choice(None, tried=(*choice.tried, found))])
            self._choices[-1] = choice
        return self._followed(choice)

    def _other_value(self, value: Term, tried: Sequence[int], most: int, what: str) -> int | None:
        terms = self.terms
        width = value.width
        others = [terms.not_(terms.eq(value, terms.bv(each, width))) for each in tried]
        small = terms.op("bvult", value, terms.bv(min(_SMALL, (1 << width) - 1), width))
        answer = self.ask([*others, small], [value])
        if answer.status != "sat":
            answer = self.ask(others, [value])
        if answer.status == "unsat":
            return None
        if answer.status == "unknown" or len(tried) >= most:
            self.bounds[f"{what} of {', '.join(map(str, sorted(tried))) or 'nothing'}"] = None
            return None
        return signed(answer.values[0], width)

    def _check_depth(self) -> None:
        """Leave a path with many choices for later, or for good."""
        if self._at >= self.limits.choices:
            self.bounds[f"{self.limits.choices} choices on a path"] = None
            raise PathLeft
        if self._at >= self._depth:
            self._push(list(self._choices))
            raise PathLeft

    def _followed(self, choice: _Choice) -> int:
        assert choice.condition is not None
        assert choice.value is not None
        self._at += 1
        self.conditions.append(choice.condition)
        return choice.value
