"""The user's filter of candidates: ``--tag``, ``--name``, ``--func`` and ``--always``."""

from __future__ import annotations

import functools
import itertools
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from actiondbg.bisection.candidates.record import RecordedAction
from actiondbg.protocol import Term
from actiondbg.protocol.tags import FOLD_TAG, PATTERN_TAG, STEP_TAG
from actiondbg.support.globs import check_glob, glob_matches

_IN_PASSES = (PATTERN_TAG, FOLD_TAG, STEP_TAG)


@dataclass(frozen=True)
class CandidateFilter:
    """The user's filter of candidates.

    Attributes:
        specs: lists of terms; the agent takes an action if all terms of one list match. Empty for
            all actions.
        always: globs of the names that are no candidates.
        accepts: whether a pass may be a candidate.
        options: the filter as options of the command line, for messages; empty for no filter.
        only_passes: whether passes alone may be candidates.
    """

    specs: list[list[Term]]
    always: list[str]
    accepts: Callable[[RecordedAction], bool]
    options: str = ""
    only_passes: bool = False


def make_filter(
    tag: str | None = None,
    name: str | None = None,
    func: str | None = None,
    always: Sequence[str] = (),
) -> CandidateFilter:
    """Return a filter.

    Args:
        tag: a glob of the tag; None for any.
        name: a glob of the name of the pattern, of the pass, or of the operation of a fold or of a
            schedule.
        func: a glob of the symbol that contains the operation.
        always: globs of names, as ``name``: these actions and passes, and the actions in such a
            pass, are no candidates.

    Raises:
        UsageError: an argument is not a valid glob.
    """
    for glob in (tag, name, func, *always):
        if glob is not None:
            check_glob(glob, glob, 0)

    options = {"--tag": tag, "--name": name, "--func": func}
    words = [(option, glob) for option, glob in options.items() if glob is not None]
    words += [("--always", glob) for glob in always]
    return CandidateFilter(
        specs=_specs(tag, name, func),
        always=list(always),
        accepts=functools.partial(_accepts, tag, name, func, tuple(always)),
        options=shlex.join(itertools.chain.from_iterable(words)),
        only_passes=tag is not None and not any(glob_matches(tag, one) for one in _IN_PASSES),
    )


def _accepts(
    tag: str | None,
    name: str | None,
    func: str | None,
    always: tuple[str, ...],
    action: RecordedAction,
) -> bool:
    """Whether a filter accepts an action; workers of a cluster get the filter by pickle."""
    names = {action.name, action.argument or ""}
    return (
        (tag is None or glob_matches(tag, action.tag))
        and (name is None or any(glob_matches(name, one) for one in names))
        and (func is None or glob_matches(func, action.function or ""))
        and not any(glob_matches(glob, one) for glob in always for one in names)
    )


def _specs(tag: str | None, name: str | None, func: str | None) -> list[list[Term]]:
    common: list[Term] = []
    if tag is not None:
        common.append(Term(kind="tag", glob=tag))
    if func is not None:
        common.append(Term(kind="func", glob=func))
    if name is None:
        return [common] if common else []
    kinds = ("pattern", "pass", "fold")
    step = [*common, Term(kind="tag", glob=STEP_TAG), Term(kind="op", glob=name)]
    return [*([*common, Term(kind=kind, glob=name)] for kind in kinds), step]
