"""The neighbourhoods of the attempts of a pattern, observed by a replay."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from actiondbg import protocol
from actiondbg.analysis.attempts import Attempt, attempts_of
from actiondbg.analysis.contrast import Contrast, Example, contrast_of, is_silent, is_success
from actiondbg.analysis.features import features_of
from actiondbg.breakpoints.spec import attempt_terms
from actiondbg.protocol.notifications import Neighbourhood
from actiondbg.session.past.replay import Replay, logging, read_log

ANY = protocol.OutcomeFilter()
_OBSERVED = 20_000  # newest attempts whose neighbourhoods are observed
_COMPARED = 2_000  # newest successes, and failures, that are compared
_AFTER, _BEFORE = 1, 2  # breakpoints


def observe(
    replay: Replay,
    name: str,
    every: Sequence[Attempt],
    failure: Attempt | None = None,
    run: str | None = None,
) -> list[Example]:
    """Replay the run, and return the successes and silent failures of a pattern, a glob.

    An operation that was tried again, with nothing changed around it, counts once. Attempts after
    a difference of the replay are left out.

    Raises:
        NoAnswer: the replay differs from the run before ``failure``, which must be among them.
    """
    terms = attempt_terms(name, None)
    recent = None
    if len(every) > _OBSERVED:
        recent = protocol.comparison("ordinal", ">=", every[-_OBSERVED].ordinal)
    breakpoints = [
        logging(terms, ANY, condition=recent, id=_AFTER),
        logging(terms, condition=recent, id=_BEFORE),
    ]
    with replay.log_file() as log:
        with replay.log(breakpoints, replay.now(), log, neighbourhoods=True) as fork:
            end = None if fork.difference is None else fork.difference.ordinal
            if end is not None and failure is not None and failure.ordinal >= end:
                fork.check_same()
        return _examples(name, log, run, end)


def _examples(name: str, log: Path, run: str | None, end: int | None) -> list[Example]:
    """Return the newest different examples of a log, of actions before ``end``."""
    newest: dict[bool, deque[tuple[Attempt, Neighbourhood]]] = {
        result: deque(maxlen=_COMPARED) for result in (False, True)
    }
    met = set[tuple[str, int | None, bool, int]]()
    for attempt, around in _observed(name, log):
        succeeded = is_success(attempt)
        is_other = not succeeded and not is_silent(attempt)
        if is_other or (end is not None and attempt.ordinal >= end):
            continue
        key = attempt.name, attempt.id, succeeded, hash(msgspec.json.encode(around))
        if key not in met:
            met.add(key)
            newest[succeeded].append((attempt, around))
    return [
        Example(attempt=attempt, features=features_of(around), run=run)
        for examples in newest.values()
        for attempt, around in examples
    ]


def _observed(name: str, log: Path) -> Iterator[tuple[Attempt, Neighbourhood]]:
    """Yield the attempts that have ended, with the neighbourhood before them."""
    begun: dict[int, Neighbourhood] = {}
    for line in read_log(log):
        if line.neighbourhood is not None:
            begun[line.ordinal] = line.neighbourhood
        elif around := begun.pop(line.ordinal, None):
            for attempt in attempts_of(name, [line]).attempts:
                yield attempt, around


def contrast(failure: Attempt, examples: Sequence[Example]) -> Contrast | None:
    """Compare a failure with the examples of its pattern; None if it was not observed."""
    own = [one for one in examples if one.attempt.name == failure.name]
    # A repeated attempt is represented by the first one like it.
    mine = [one for one in own if one.run is None and one.attempt.id == failure.id]
    mine = [one for one in mine if not one.succeeded and one.attempt.ordinal <= failure.ordinal]
    if not mine:
        return None
    observed = mine[-1]
    others = [one for one in own if one is not observed]
    return contrast_of(Example(attempt=failure, features=observed.features), others)
