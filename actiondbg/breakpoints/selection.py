"""A selection: the actions that a SPEC, a condition and an OUTCOME select."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from actiondbg.breakpoints.condition import parse_condition, uses_field
from actiondbg.breakpoints.resolution import Vocabulary, resolve_spec
from actiondbg.breakpoints.spec import parse_spec
from actiondbg.breakpoints.targets import parse_outcome
from actiondbg.protocol import Condition, OutcomeFilter, Term, Until


@dataclass(frozen=True)
class Selection:
    """Some actions of a run, and the moment at which each of them is found.

    Attributes:
        spec: the SPEC; None for all actions.
        condition: the condition as the user wrote it, or None.
        outcome: the OUTCOME as the user wrote it, or None for any.
        after: whether an action is found at its end, whatever decides that it is selected.

    Raises:
        UsageError: the SPEC, the condition or the OUTCOME has a syntax error; the error holds the
            position.
    """

    spec: str | None = None
    condition: str | None = None
    outcome: str | None = None
    after: bool = False

    def __post_init__(self) -> None:
        _ = self.terms, self.parsed_outcome, self.parsed_condition  # syntax errors come at once

    @cached_property
    def terms(self) -> list[Term]:
        """The terms of the SPEC; empty for all actions."""
        return [] if self.spec is None else parse_spec(self.spec)

    @cached_property
    def parsed_condition(self) -> Condition | None:
        """The condition as the agent evaluates it."""
        return None if self.condition is None else parse_condition(self.condition)

    @cached_property
    def parsed_outcome(self) -> OutcomeFilter | None:
        """The OUTCOME as the agent evaluates it."""
        return None if self.outcome is None else parse_outcome(self.outcome)

    @property
    def is_about_outcome(self) -> bool:
        """Whether the condition is about the outcome."""
        return uses_field(self.parsed_condition, "outcome")

    @property
    def at_ends(self) -> bool:
        """Whether an action is found at its end, where its outcome is known, not its beginning."""
        return self.after or self.outcome is not None or self.is_about_outcome

    def until(self, *, within: bool = False) -> Until:
        """Return the end of a resume at the next action; ``within``: in the parent action."""
        return Until(
            terms=self.terms,
            condition=self.parsed_condition,
            within=within,
            after=self.at_ends,
            outcome=self.parsed_outcome,
        )


def select(
    names: Vocabulary,
    spec: str | None = None,
    condition: str | None = None,
    *,
    outcome: str | None = None,
    after: bool = False,
) -> Selection:
    """Return a selection whose SPEC has names without their kinds; raises as ``Selection``."""
    resolved = None if spec is None else resolve_spec(spec, names).spec
    return Selection(resolved, condition, outcome, after)
