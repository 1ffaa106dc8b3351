"""The kinds of the terms of a SPEC that take a glob: the traits of each ``SpecKind``.

Help, completion, messages and the rules for terms that exclude each other follow. A kind is
evaluated twice: in the agent (match/Spec.cpp), and as SQL over recordings
(recording/query/filters.py).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from actiondbg.protocol import SpecKind
from actiondbg.protocol.tags import FOLD_TAG, PASS_TAG, PATTERN_TAG

# Of the names that are known of a tool and its input.
Kind = Literal["pattern", "pass", "op", "func", "tag"]


class KindTraits(NamedTuple):
    """What is to know of a kind.

    Attributes:
        about: which actions it selects, for the help; of one or two lines.
        noun: what the glob names.
        names: the kind of the known names that the glob is of; None if none are known.
        tag: that its actions have; None if they have any.
        is_single: whether an action has one such name only.
        word: the placeholder of the glob in the help.
    """

    about: str
    noun: str
    names: Kind | None = None
    tag: str | None = None
    is_single: bool = False
    word: str = "GLOB"


KINDS: dict[SpecKind, KindTraits] = {
    "tag": KindTraits(
        "tag, such as apply-pattern, fold, pass-execution, transform-op", "tag", "tag", word="T"
    ),
    "pattern": KindTraits(
        "application of a pattern with that name", "pattern", "pattern", PATTERN_TAG
    ),
    "pass": KindTraits("execution of a pass, by argument or class name", "pass", "pass", PASS_TAG),
    "fold": KindTraits(
        "fold of an operation with that name", "operation", "op", FOLD_TAG, True, "OPGLOB"
    ),
    "op": KindTraits("name of the operation of the action", "operation", "op", is_single=True),
    "func": KindTraits(
        "symbol of the function around the operation; kernel:GLOB too",
        "function",
        "func",
        is_single=True,
    ),
    "loc": KindTraits("name inside the location, as Triton and JAX give to values", "location"),
    "context": KindTraits(
        "MLIR context, such as c1; info contexts lists them", "context", is_single=True
    ),
    "mlir": KindTraits(
        "file of the MLIR, such as libtriton.so, in a program with several", "MLIR", is_single=True
    ),
    "in": KindTraits(
        "anything inside a pass, at any depth; in:GLOB#2 is inside the\nsecond run of that pass",
        "pass",
        "pass",
    ),
}
# As users of Triton name the function of a kernel.
_ALIASES: dict[str, SpecKind] = {"kernel": "func"}
# The word before the colon of a term.
PREFIXES: dict[str, SpecKind] = {**{kind: kind for kind in KINDS}, **_ALIASES}
