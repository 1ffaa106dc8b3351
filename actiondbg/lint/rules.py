"""The rules: the meaning of each, its advice, and the query that finds what breaks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# What a rule needs: the actions of any recording, one with checks, several runs, or repeated runs.
Need = Literal["actions", "checks", "runs", "repetition"]


@dataclass(frozen=True)
class Rule:
    """A rule of rewriting.

    Attributes:
        name: of the rule.
        meaning: what a finding says, one sentence without its subject: "returns failure after ...".
        advice: what the author of a pattern does about it, one sentence.
        need: what shows that it is broken.
        query: SQL over the tables of a recording, which gives the columns ``subject`` (the name
            of a pattern or pass), ``ordinal`` (of an action), and ``detail``; "" for a rule that
            needs several runs, or repeated ones.
        is_default: whether it is checked unless others are named.
    """

    name: str
    meaning: str
    advice: str
    need: Need
    query: str = ""
    is_default: bool = True


def _checked(name: str) -> str:
    return f"""
        SELECT actions.name AS subject, ordinal, detail
        FROM findings JOIN actions USING (ordinal) WHERE rule = '{name}'
    """


# The default of MLIR for the most iterations of a greedy rewrite.
_MOST_ITERATIONS = 10

_NO_CONVERGENCE = f"""
    WITH numbered AS (
        SELECT *, CAST(regexp_extract(name, '[0-9]+') AS INTEGER) AS number
        FROM actions WHERE tag = 'GreedyPatternRewriteIteration'
    ), followed AS (
        SELECT *, lead(number) OVER (PARTITION BY parent, thread ORDER BY ordinal) AS next
        FROM numbered
    ), last AS (
        SELECT ordinal, number FROM followed
        WHERE (next IS NULL OR next <= number) AND outcome <> 'unfinished'
          AND number >= {_MOST_ITERATIONS}
    )
    SELECT applied.name AS subject, min(applied.ordinal) AS ordinal,
           'in iteration ' || any_value(last.number) AS detail
    FROM last JOIN actions AS applied ON applied.parent = last.ordinal
    WHERE applied.outcome IN ('succeeded', 'unchanged') AND applied.tag = 'apply-pattern'
    GROUP BY applied.name, last.ordinal
"""

RULES = (
    Rule(
        "changed-but-failed",
        "changes IR and returns failure",
        "Decide whether the pattern matches before it changes anything: its driver takes the IR "
        "for unchanged.",
        "checks",
        _checked("changed-but-failed"),
    ),
    Rule(
        "success-without-change",
        "returns success without a change",
        "Return failure if there is nothing to do: the driver tries all patterns again after a "
        "success, and may not converge.",
        "checks",
        _checked("success-without-change"),
    ),
    Rule(
        "not-notified",
        "changes IR without its rewriter",
        "Use the rewriter's modifyOpInPlace, replaceOp, eraseOp, moveOpBefore and create: the "
        "driver does not revisit what it is not told of, and may use what is erased.",
        "checks",
        _checked("not-notified"),
    ),
    Rule(
        "invalid-ir",
        "leaves IR that is not valid",
        "Leave valid IR after each pattern: others, and folds, rely on what verifiers promise.",
        "checks",
        _checked("invalid-ir"),
    ),
    Rule(
        "lost-location",
        "gives a new operation no location",
        "Give it the location of the operation that it replaces, or a fused one: diagnostics and "
        "debug information need it.",
        "checks",
        _checked("lost-location"),
    ),
    Rule(
        "no-convergence",
        "still applies when the greedy driver gives up",
        "Find the pattern that undoes it, or that returns success without progress: 'info cycles' "
        "names patterns that make each other's input.",
        "actions",
        _NO_CONVERGENCE,
    ),
    Rule(
        "dead-pass",
        "changes nothing in any run",
        "Leave the pass out of the pipeline, or add a test in which it does something.",
        "runs",
        is_default=False,
    ),
    Rule(
        "unstable-output",
        "acts otherwise when the same command runs again with other addresses",
        "Iterate over vectors, or over maps that keep the order of insertion, instead of sets and "
        "maps of pointers.",
        "repetition",
    ),
    Rule(
        "order-dependent",
        "acts otherwise when patterns of the same benefit are tried in the opposite order",
        "Give the pattern that has to be tried first a higher benefit.",
        "repetition",
        is_default=False,
    ),
    Rule(
        "use-after-erase",
        "reads memory that is freed",
        "Do not touch an operation that was erased or replaced: read what is needed before.",
        "repetition",
    ),
)
DEFAULT_RULES = tuple(each for each in RULES if each.is_default)
BY_NAME = {each.name: each for each in RULES}
