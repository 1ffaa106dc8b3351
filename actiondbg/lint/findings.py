"""Findings: each breaks a rule, and is listed once, with the smallest run that shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec

from actiondbg.errors import ActiondbgError
from actiondbg.lint.rules import BY_NAME, Rule


@dataclass(frozen=True)
class Place:
    """Where a finding shows.

    Attributes:
        command: of the run.
        cwd: its working directory.
        actions: how many it has: the smallest run is shown.
        recording: the path of the recording; None if it is gone.
        test: that it belongs to, with the line of its RUN line; None if that is not known.
        ordinal: of the action; 0 for none.
        file: of the operation of the action, or None.
        line: in it, from 1; None without a file.
        function: around the operation, or None.
        op: the name of the operation, or None.
    """

    command: tuple[str, ...]
    cwd: str
    actions: int
    recording: str | None = None
    test: str | None = None
    ordinal: int = 0
    file: str | None = None
    line: int | None = None
    function: str | None = None
    op: str | None = None


@dataclass(frozen=True)
class Finding:
    """A pattern or pass that breaks a rule.

    Attributes:
        rule: the name of the rule.
        subject: the name of the pattern or pass, without anonymous namespaces: the same in all
            compilers.
        detail: of the place, one phrase such as "modified arith.addi", or "".
        place: in the smallest run that shows it.
        times: in all runs.
        runs: that show it.
        seconds: of the actions that break it, without nested ones.
    """

    rule: str
    subject: str
    detail: str
    place: Place
    times: int = 1
    runs: int = 1
    seconds: float = 0.0

    @property
    def key(self) -> tuple[str, str]:
        """What tells findings apart: the rule and the subject."""
        return self.rule, self.subject

    @property
    def declared(self) -> Rule:
        """The rule."""
        return BY_NAME[self.rule]

    def joined(self, other: Finding) -> Finding:
        """Return both as one, at the place of the smaller run."""
        first = self if self.place.actions <= other.place.actions else other
        return replace(
            first,
            times=self.times + other.times,
            runs=self.runs + other.runs,
            seconds=self.seconds + other.seconds,
        )


class Findings:
    """The findings of several runs, each once."""

    def __init__(self) -> None:
        self._by_key: dict[tuple[str, str], Finding] = {}

    def add(self, findings: Iterable[Finding]) -> None:
        """Add the findings of a run."""
        for each in findings:
            known = self._by_key.get(each.key)
            self._by_key[each.key] = each if known is None else known.joined(each)

    def __iter__(self) -> Iterator[Finding]:
        """Yield them in the order of the rules, the most frequent first."""
        order = list(BY_NAME)
        return iter(
            sorted(
                self._by_key.values(),
                key=lambda each: (order.index(each.rule), -each.times, each.subject),
            )
        )


class Known(msgspec.Struct, frozen=True, order=True):
    """A finding in a baseline."""

    rule: str
    subject: str


class Baseline(msgspec.Struct, tag_field="format", tag="actiondbg lint baseline"):
    """The findings that are known, and not reported."""

    version: Literal[1]
    findings: list[Known]


def baseline_text(findings: Iterable[Finding]) -> bytes:
    """Return the text of a baseline: JSON, in the same order each time."""
    known = sorted(Known(*key) for key in {each.key for each in findings})
    return msgspec.json.format(msgspec.json.encode(Baseline(1, known)), indent=1) + b"\n"


def read_baseline(path: Path) -> set[tuple[str, str]]:
    """Read the keys of known findings.

    Raises:
        ActiondbgError: the file cannot be read, or is no baseline.
    """
    try:
        read = msgspec.json.decode(path.read_bytes(), type=Baseline)
    except OSError as error:
        raise ActiondbgError(f"{str(path)!r} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ActiondbgError(
            f"{str(path)!r} is not a baseline of 'actiondbg lint': write one by --write-baseline."
        ) from error
    return {(each.rule, each.subject) for each in read.findings}


def finding_object(finding: Finding) -> dict[str, object]:
    """Return a finding as an object for JSON."""
    fields = asdict(finding)
    return {**fields, "meaning": finding.declared.meaning, "advice": finding.declared.advice}
