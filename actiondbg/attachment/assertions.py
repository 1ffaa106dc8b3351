"""Assertions about patterns, passes and folds, with messages that explain their failure."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import cast

from actiondbg.attachment.observed_actions import EqualAttempts, ObservedActions
from actiondbg.breakpoints.resolution import NamesOfKind, similar_name
from actiondbg.breakpoints.spec import parse_pieces, split_spec_and_condition
from actiondbg.errors import LaunchError, UsageError
from actiondbg.protocol.tags import PASS_TAG, PATTERN_TAG
from actiondbg.support.counts import counted, times
from actiondbg.support.scratch_directory import scratch_directory

_MOST = 10  # lines in a message
_APPLIED = "(outcome = 'succeeded' OR outcome = 'unchanged' AND tag = 'apply-pattern')"
_PLAIN = re.compile(r"[^\s:#@]+(::[^\s:#@]+)*")  # no SPEC but a name
_NAMED = frozenset({"name", "pattern", "pass", "fold"})  # kinds of terms
_NOTHING = (
    "no action was observed, because no MLIR ran here. The actions of a command are observed with "
    "run=[TOOL, ARGS...]."
)
_TAGS = {"pattern": PATTERN_TAG, "pass": PASS_TAG}


def check_applied(actions: ObservedActions, name: str, at: str | None = None) -> None:
    """Assert that a pattern, pass or fold changed the IR.

    Args:
        actions: those to look at.
        name: of a pattern or a pass, a glob; or a SPEC as ``break`` takes it.
        at: FILE:LINE of the operation; None for any.

    Raises:
        AssertionError: it did not; with the number of attempts and the reasons of their failure.
        UsageError: a syntax error.
    """
    __tracebackhide__ = True  # by pytest: the test's own line is what matters
    wanted = _condition(name, at)
    if not actions.count(f"{wanted} AND {_APPLIED}")[0]:
        _check_whole(actions, name, at)
        raise AssertionError(_why_not(actions, name, at, wanted))


def check_not_applied(actions: ObservedActions, name: str, at: str | None = None) -> None:
    """Assert that a pattern, pass or fold did not change the IR; see ``check_applied``.

    A name that nothing had, and that is like a known one, is a warning: it may be a slip.

    Raises:
        AssertionError: it did, or no action was observed at all.
        UsageError: a syntax error, or several words that are no SPEC.
    """
    __tracebackhide__ = True
    _check_name(name)
    named = _condition(name, at)
    if not len(actions):
        _check_whole(actions, name, at)
        raise AssertionError(f"Whether {_subject(name, at)} applies is unknown: {_NOTHING}")
    wanted = f"{named} AND {_APPLIED}"
    count, operations = actions.count(wanted)
    if not count:
        _check_whole(actions, name, at)
        if (near := _similar(actions, name)) is not None and not actions.count(named)[0]:
            _warn(f"{name} was never tried; did you mean {near}?")
        return
    lines = [f"{_subject(name, at)} applied {times(count)}, on {counted(operations, 'operation')}:"]
    lines += [f"  #{each.ordinal} on {each.place}" for each in actions.select(wanted, _MOST)]
    raise AssertionError("\n".join([*lines, *_rest(count - _MOST)]))


def _module_of(frame: FrameType) -> str:
    return frame.f_globals.get("__name__", "")  # which exec may leave out


def _warn(text: str) -> None:
    """Warn at the line that called this package, through whichever of its functions."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and _module_of(frame).startswith("actiondbg."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)


def run_and_check(
    argv: Sequence[str | os.PathLike[str]], name: str, at: str | None, *, applied: bool
) -> None:
    """Run a command to its end, and assert what a pattern did in it; see ``check_applied``.

    Raises:
        AssertionError: it did not or did, the command failed, or ran no MLIR.
        LaunchError: the command cannot be started.
        UsageError: the command is no list of words.
    """
    __tracebackhide__ = True
    from actiondbg.recording.capture.recorder import record

    words = _words(argv)
    with scratch_directory("assert") as scratch:
        errors = scratch / "stderr"
        run = record(words, scratch / "run.adbrec", stdout=os.devnull, stderr=errors)
        if run.status:
            raise AssertionError(
                f"{shlex.join(words)} failed with exit status {run.status}:\n{_end_of(errors)}"
            )
        if run.path is None:
            raise LaunchError(f"{shlex.join(words)} made no MLIR context: name an MLIR tool.")
        check = check_applied if applied else check_not_applied
        check(ObservedActions(run.path), name, at)


def _words(argv: object) -> list[str]:
    """Return the words of a command line, which a caller may not have checked."""
    if isinstance(argv, str):
        raise UsageError(f"run={argv!r} is no list: give run={shlex.split(argv)}.")
    if not isinstance(argv, list | tuple):
        raise UsageError(f"run={argv!r} is no list: give run=[TOOL, ARGS...].")
    given = cast("Sequence[object]", argv)
    words: list[str] = []
    for word in given:
        if not isinstance(word, str | Path):
            raise UsageError(f"The word {word!r} of run is no text: give run={[*map(str, given)]}.")
        words.append(os.fspath(word))
    return words


def _end_of(errors: Path) -> str:
    lines = errors.read_text(errors="replace").splitlines()[-_MOST:]
    return "\n".join(f"  {line}" for line in lines)


def _check_whole(actions: ObservedActions, name: str, at: str | None) -> None:
    """Refuse to judge by what is missing where actions may be missing."""
    __tracebackhide__ = True
    if (why := actions.missing()) is not None:
        raise AssertionError(f"Whether {_subject(name, at)} applies is unknown. {why}")


def check_texts(name: object, at: object) -> None:
    """Raise UsageError unless a name and a place are texts, which a caller may not have checked."""
    for what, value, way in (
        ("name", name, "the name of a pattern, pass or fold, or a SPEC"),
        ("at", "" if at is None else at, "at='FILE:LINE'"),
    ):
        if not isinstance(value, str):
            raise UsageError(f"{what}={value!r} is no text: give {way}.")


def _check_name(name: str) -> None:
    """Refuse a name with a blank, which no pattern has outside the arguments of a template."""
    for piece, term in parse_pieces(split_spec_and_condition(name)[0]):
        is_name = term.kind in _NAMED and '"' not in piece.raw
        if is_name and re.search(r"\s", re.sub(r"[<({\[].*[>)}\]]", "", piece.raw)):
            raise UsageError(
                f"{piece.raw!r} is no name of a pattern, pass or fold, as it has a blank: assert "
                "each name by itself, or write 'and' between the terms of a SPEC.",
            )


def _condition(name: str, at: str | None) -> str:
    """Translate a name and a place to SQL."""
    from actiondbg.recording.query.filters import where, where_location

    specs = [f"pattern:{name}", f"pass:{name}"] if _PLAIN.fullmatch(name) else [name]
    found = " OR ".join(where(spec) for spec in specs)
    return f"({found})" if at is None else f"({found}) AND {where_location(at)}"


def _why_not(actions: ObservedActions, name: str, at: str | None, wanted: str) -> str:
    tried, operations = actions.count(wanted)
    subject = _subject(name, at)
    if not tried:
        return _elsewhere(actions, name, at, subject) or _never_tried(actions, name, subject)
    attempts = actions.attempts(wanted)
    firsts = ", ".join(str(each.first) for each in attempts[:_MOST])
    places = {each.ordinal: each.place for each in actions.select(f"ordinal IN ({firsts})")}
    lines = [
        f"{subject} did not apply. It was tried {times(tried)}, on "
        f"{counted(operations, 'operation')}:"
    ]
    for each in attempts[:_MOST]:
        where = f"first: #{each.first} on {places[each.first]}"
        lines.append(f"  {times(each.times)}: {_ending(each)} ({where})")
    return "\n".join([*lines, *_rest(len(attempts) - _MOST)])


def _elsewhere(actions: ObservedActions, name: str, at: str | None, subject: str) -> str | None:
    """Return where else something was tried; None if it was tried nowhere, or may be anywhere."""
    if at is None or not (anywhere := actions.count(_condition(name, None))[0]):
        return None
    applied = actions.select(f"{_condition(name, None)} AND {_APPLIED}", _MOST)
    lines = [f"{subject} did not apply: it was tried {times(anywhere)}, but not there."]
    lines += [f"  It applied as #{each.ordinal} on {each.place}" for each in applied]
    return "\n".join(lines)


def _never_tried(actions: ObservedActions, name: str, subject: str) -> str:
    total = len(actions)
    if not total:
        return f"{subject} did not apply: {_NOTHING}"
    patterns, passes = (len(actions.names(tag)) for tag in _TAGS.values())
    text = (
        f"{subject} did not apply: it was never tried. {counted(total, 'action')} ran, of "
        f"{counted(patterns, 'pattern')} and {counted(passes, 'pass')}."
    )
    near = _similar(actions, name)
    return f"{text}\n  Did you mean {near}?" if near else text


def _similar(actions: ObservedActions, name: str) -> str | None:
    """Return the name of a pattern or a pass, with its kind, that is most like another one."""
    known = [NamesOfKind(kind, actions.names(tag)) for kind, tag in _TAGS.items()]
    return similar_name(name.partition(":")[2] or name, known)


def _ending(attempts: EqualAttempts) -> str:
    """Return how attempts ended: the reason of a failure, else the outcome."""
    if attempts.outcome == "failed":
        return attempts.reason or "failed without a reason"
    return attempts.outcome


def _subject(name: str, at: str | None) -> str:
    return name if at is None else f"{name} at {at}"


def _rest(left: int) -> list[str]:
    return [f"  and {left:,} more"] if left > 0 else []
