"""What a bisection may skip: the record of a run, the filter of the user, schemes of candidates."""

from __future__ import annotations

import bisect
import itertools
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from actiondbg import protocol
from actiondbg.bisection.result import Entry
from actiondbg.bisection.verdict import Milestone, Verdict
from actiondbg.breakpoints.condition import check_before_action, parse_condition, uses_field
from actiondbg.breakpoints.spec import parse_spec, split_spec_and_condition
from actiondbg.errors import NoAnswer, UsageError
from actiondbg.protocol import ActionSpec, Term
from actiondbg.protocol.tags import FOLD_TAG, PATTERN_TAG, STEP_TAG
from actiondbg.support.counts import as_texts
from actiondbg.support.decoders import decoder_of
from actiondbg.support.globs import check_glob, glob_matches


class RecordedAction(protocol.ActionRef, protocol.Message, kw_only=True, gc=False):
    """A line of a record: an action that changed the IR, or a pass (docs/protocol.md, Plans).

    Without keys, an action that is no pass has only its ``ordinal``.
    """

    tag: str = ""
    name: str = ""
    nth: int | None = None
    id: int | None = None
    argument: str | None = msgspec.field(name="pass", default=None)
    last: int = 0
    leaves: int = 0
    conversion: bool = False
    over: bool = True
    failed: bool = False
    changed: bool = False
    selected: bool = True

    @property
    def is_pass(self) -> bool:
        return self.argument is not None

    @property
    def is_step(self) -> bool:
        """Whether it is an operation of a schedule; needs a record with keys."""
        return self.tag == STEP_TAG

    @property
    def entry(self) -> Entry:
        """The action as a result lists it."""
        return Entry(
            ordinal=self.ordinal,
            tag=self.tag,
            name=self.argument or self.name,
            nth=self.nth or 0,
            location=self.location,
            function=self.function,
            op=self.op,
            last=self.last or self.ordinal,
        )

    @property
    def key(self) -> protocol.Key:
        """Identifies the action in runs that skip other actions; needs a record with keys."""
        return protocol.Key(
            tag=self.tag,
            name=self.name,
            location=self.location,
            function=self.function,
            nth=self.nth or 1,
        )


class Record:
    """The actions of a run.

    Attributes:
        actions: patterns, folds and operations of schedules that changed the IR, by ordinal.
        passes: all passes except adaptors, by ordinal.
        selected: the passes that the user's filter selects.
    """

    def __init__(self, lines: Iterable[RecordedAction]) -> None:
        ordered = sorted(lines, key=lambda one: one.ordinal)
        self.actions = [one for one in ordered if not one.is_pass]
        self.passes = [one for one in ordered if one.is_pass]
        self.selected = [one for one in self.passes if one.selected]

    def actions_in(self, each: RecordedAction) -> list[RecordedAction]:
        """Return the patterns, the folds and the operations of a schedule in a pass."""
        first = bisect.bisect_left(self.actions, each.ordinal, key=lambda one: one.ordinal)
        last = bisect.bisect_right(self.actions, each.last, key=lambda one: one.ordinal)
        return self.actions[first:last]

    def milestone(self, ordinal: int) -> Milestone | None:
        """Return the innermost pass around an action, with its runs so far.

        Args:
            ordinal: of the action; outside of any pass, the newest pass is taken.
        """
        around = [one for one in self.passes if one.ordinal <= ordinal <= one.last]
        newest = (around or self.passes)[-1:]
        if not newest or not newest[0].argument:
            return None
        argument, last = newest[0].argument, newest[0].ordinal
        runs = [one for one in self.passes if one.argument == argument and one.ordinal <= last]
        return Milestone(argument, [one.last for one in runs])

    def failed_pass(self) -> str | None:
        """Return the argument of the innermost pass that failed or did not end, or None."""
        failed = [one for one in self.passes if one.failed or not one.over]
        return failed[-1].argument if failed else None


def read_record(file: Path) -> Record:
    """Read a record; raises NoAnswer if it cannot be read."""
    try:
        return Record(decoder_of(RecordedAction).decode_lines(file.read_bytes()))
    except (OSError, msgspec.DecodeError) as error:
        raise NoAnswer(
            f"The record of a trial cannot be read ({error}): is there room left on the disk?"
        ) from error


# --- the user's filter: --filter, --tag, --name, --func and --always ---


_IN_PASSES = (PATTERN_TAG, FOLD_TAG, STEP_TAG)


@dataclass(frozen=True)
class CandidateFilter:
    """The user's filter of candidates, which the agent evaluates.

    Attributes:
        specs: an action may be a candidate if any of these specs matches. Empty for all actions.
        always: globs of the names that are no candidates.
        options: the filter as options of the command line, for messages; empty for no filter.
        only_passes: whether passes alone may be candidates.
    """

    specs: list[ActionSpec]
    always: list[str]
    options: str = ""
    only_passes: bool = False


def make_filter(
    tag: str | None = None,
    name: str | None = None,
    func: str | None = None,
    always: Sequence[str] = (),
    specs: Sequence[str] = (),
) -> CandidateFilter:
    """Return a filter.

    Args:
        tag: a glob of the tag; None for any.
        name: a glob of the name of the pattern, of the pass, or of the operation of a fold or of a
            schedule.
        func: a glob of the symbol that contains the operation.
        always: globs of names, as ``name``: these actions and passes, and the actions in such a
            pass, are no candidates.
        specs: ``SPEC [if EXPR]`` as of a breakpoint, of which an action matches any; none for all.
            Ordinals and ids are refused: they differ in runs that skip actions.

    Raises:
        UsageError: an argument is not a valid glob or SPEC.
    """
    always, specs = as_texts(always), as_texts(specs)
    for glob in (tag, name, func, *always):
        if glob is not None:
            check_glob(glob, glob, 0)

    options = {"--tag": tag, "--name": name, "--func": func}
    words = [("--filter", spec) for spec in specs]
    words += [(option, glob) for option, glob in options.items() if glob is not None]
    words += [("--always", glob) for glob in always]
    every = ActionSpec(terms=[])
    selected = [
        ActionSpec(terms=[*spec.terms, *terms], condition=spec.condition)
        for spec in [*map(candidate_spec, specs)] or [every]
        for terms in _terms(tag, name, func)
    ]
    return CandidateFilter(
        specs=[] if selected == [every] else selected,
        always=always,
        options=shlex.join(itertools.chain.from_iterable(words)),
        only_passes=tag is not None and not any(glob_matches(tag, one) for one in _IN_PASSES),
    )


def candidate_spec(text: str) -> ActionSpec:
    """Parse ``SPEC [if EXPR]`` of candidates; see ``make_filter``.

    Raises:
        UsageError: a syntax error, or it depends on an ordinal or on what follows the action.
    """
    spec, condition = split_spec_and_condition(text)
    terms = parse_spec(spec)
    parsed = None if condition is None else parse_condition(condition)
    numbers = any(uses_field(parsed, field) for field in ("ordinal", "id"))
    if numbers or any(term.kind == "ordinal" for term in terms):
        raise UsageError(
            f"{text!r} selects by a number, and ordinals and ids differ in runs that skip actions: "
            "select by names, places or passes."
        )
    check_before_action(parsed, "The choice of candidates")
    return ActionSpec(terms=terms, condition=parsed)


def _terms(tag: str | None, name: str | None, func: str | None) -> list[list[Term]]:
    common: list[Term] = []
    if tag is not None:
        common.append(Term(kind="tag", glob=tag))
    if func is not None:
        common.append(Term(kind="func", glob=func))
    if name is None:
        return [common]
    kinds = ("pattern", "pass", "fold")
    step = [*common, Term(kind="tag", glob=STEP_TAG), Term(kind="op", glob=name)]
    return [*([*common, Term(kind=kind, glob=name)] for kind in kinds), step]


# --- schemes: which actions and passes are candidates, and which schemes to try ---


_ONLY_ACTIONS = "only patterns and folds outside of conversions are candidates"
_FINEST = (
    "patterns and folds are candidates, and so are passes that convert or have none, as a whole"
)
_MOST_REQUIRED = 4  # passes that are required one by one, after the tool failed without them


class Scheme(msgspec.Struct, frozen=True):
    """A choice of candidates.

    Patterns and folds are candidates unless they are in a pass of ``held``.

    Attributes:
        passes: arguments of passes that are candidates as a whole.
        held: arguments of passes whose patterns and folds are no candidates.
        words: describes the scheme, for a note; empty for one that is no start to search from.
    """

    passes: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    words: str = ""

    def requiring(self, argument: str) -> Scheme:
        """Return the scheme in which a pass is no candidate, nor any action in it."""
        return Scheme(
            self.passes - {argument},
            self.held | {argument},
            f"the pass {argument} must run, and nothing in it is a candidate",
        )

    def opening(self, argument: str) -> Scheme:
        """Return the scheme in which the actions in a pass are candidates instead of the pass."""
        return Scheme(self.passes - {argument}, self.held - {argument})


def candidates_of(record: Record, scheme: Scheme) -> list[RecordedAction]:
    """Return the candidates of a scheme, by ordinal, from the record of the run without skips."""
    held = [one for one in record.passes if one.argument in scheme.held]
    passes = [one for one in record.selected if one.argument in scheme.passes]
    actions: list[RecordedAction] = []
    end = 0  # the end of the held passes so far; they can be nested
    position = 0
    for action in record.actions:
        while position < len(held) and held[position].ordinal < action.ordinal:
            end = max(end, held[position].last)
            position += 1
        if action.ordinal > end:
            actions.append(action)
    return sorted([*actions, *passes], key=lambda one: one.ordinal)


class SchemeQueue:
    """The schemes to try, from the finest to the coarsest.

    The patterns of a conversion cannot be skipped one by one: the IR that they leave is illegal.
    So the first scheme makes passes that convert candidates as a whole, and the next ones require
    them. A pass may do more than its patterns, so later schemes make all passes candidates as a
    whole, and the last one all passes except conversions. They come first if the
    user asks for passes.

    Args:
        record: of the run that skips nothing.
        allowed: arguments of the passes that the user's filter accepts.
        only_passes: whether that filter accepts no pattern and no fold.
    """

    def __init__(self, record: Record, allowed: set[str], only_passes: bool = False) -> None:
        self._allowed = allowed
        passes = [(one.argument or "", one) for one in record.passes]
        self._all = {argument for argument, _ in passes}
        # Passes that tried patterns or folds, and passes that ran a dialect conversion.
        self._with_leaves = with_leaves = {argument for argument, one in passes if one.leaves}
        self._conversions = conversions = {argument for argument, one in passes if one.conversion}
        leafless = allowed - with_leaves
        fine = [
            _scheme(leafless | (conversions & allowed), conversions, _FINEST),
            _scheme(
                leafless - conversions,
                conversions,
                "the passes that convert must run, and nothing in them is a candidate",
            ),
            _scheme(set(), conversions, _ONLY_ACTIONS),
        ]
        coarse = [
            _scheme(allowed, with_leaves, "passes are candidates as a whole"),
            _scheme(
                allowed - conversions,
                with_leaves,
                "the passes that convert must run, and the others are candidates as a whole",
            ),
        ]
        self._schemes = [*coarse, *fine] if only_passes else [*fine, *coarse]
        self._tried: set[tuple[frozenset[str], frozenset[str]]] = set()
        self._required = 0

    def schemes(self) -> Iterator[Scheme]:
        """Yield the schemes; after each one whose start is not good, call ``failed``."""
        while self._schemes:
            scheme = self._schemes.pop(0)
            if (scheme.passes, scheme.held) not in self._tried:
                self._tried.add((scheme.passes, scheme.held))
                yield scheme

    def failed(self, scheme: Scheme, verdict: Verdict, argument: str | None) -> None:
        """Adapt the queue to the verdict on the start of a scheme.

        Args:
            scheme: the newest scheme.
            verdict: untestable or bad.
            argument: of the pass in which the tool failed; None if it is not known.
        """
        if verdict == "bad":  # with fewer candidates the start would be bad as well
            self._schemes = [one for one in self._schemes if one.words != _ONLY_ACTIONS]
        if verdict == "untestable" and argument is not None and self._required < _MOST_REQUIRED:
            self._required += 1
            self._schemes.insert(0, scheme.requiring(argument))

    def removable_passes(self) -> list[str]:
        """Return the passes that may be left out, or whose actions may be; conversions last.

        If the tool needs only one of two passes, the first one of this list is left out: it
        should be an optimization, not a lowering.
        """
        removable = self._all & (self._allowed | (self._with_leaves - self._conversions))
        return sorted(removable, key=lambda one: (one in self._conversions, one))

    def leaving_out(self, arguments: set[str]) -> Scheme:
        """Return the scheme in which only these passes, or the actions in them, are candidates."""
        opened = arguments & (self._with_leaves - self._conversions)
        return _scheme(arguments - opened, self._all - opened)

    def without(self, argument: str) -> Scheme:
        """Return the scheme in which only a pass is a candidate, as a whole."""
        return _scheme({argument}, self._with_leaves)

    def require(self, required: set[str], idle: set[str]) -> None:
        """Try schemes next that require passes, although the tool does not fail without them.

        Args:
            required: passes without which the output is untestable.
            idle: passes that changed nothing; they could do the work of a pass that is left out.
        """
        if not required:
            return
        words = f"the passes {', '.join(sorted(required))} must run"
        run = required | idle
        whole = (self._allowed - self._with_leaves) | (self._conversions & self._allowed)
        self._schemes[:0] = [
            _scheme(whole - run, self._conversions | run, words),
            _scheme(
                self._allowed - run,
                self._with_leaves | run,
                f"{words}, and the others are candidates as a whole",
            ),
        ]


def _scheme(passes: set[str], held: set[str], words: str = "") -> Scheme:
    return Scheme(frozenset(passes), frozenset(held), words)
