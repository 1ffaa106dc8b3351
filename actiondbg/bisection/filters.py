"""Which actions may be candidates, from the options that narrow them."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from actiondbg.bisection.candidates import Row
from actiondbg.protocol import Term
from actiondbg.support.globs import check_glob, glob_matches


@dataclass(frozen=True)
class Choice:
    """Which actions may be candidates.

    Attributes:
        specs: one of these lists of terms has to hold; empty for all.
        always: globs of names that are none.
        takes: whether a pass may be one.
        words: the options that narrow it, for a message; empty if none does.
    """

    specs: list[list[Term]]
    always: list[str]
    takes: Callable[[Row], bool]
    words: str = ""


def choose(
    tag: str | None = None,
    name: str | None = None,
    func: str | None = None,
    always: Sequence[str] = (),
) -> Choice:
    """Return which actions may be candidates.

    Args:
        tag: a glob of their tag; None for any.
        name: a glob of the name of the pattern, of the pass, or of the operation of a fold.
        func: a glob of the symbol that holds the operation.
        always: globs of names, as ``name``; these are not candidates, and nothing in such a pass.

    Raises:
        UsageError: one is no glob.
    """
    for glob in (tag, name, func, *always):
        if glob is not None:
            check_glob(glob, glob, 0)

    def takes(row: Row) -> bool:
        names = {row.name, row.argument or ""}
        return (
            (tag is None or glob_matches(tag, row.tag))
            and (name is None or any(glob_matches(name, one) for one in names))
            and (func is None or glob_matches(func, row.function or ""))
            and not any(glob_matches(glob, one) for glob in always for one in names)
        )

    options = {"--tag": tag, "--name": name, "--func": func}
    words = [(option, glob) for option, glob in options.items() if glob is not None]
    words += [("--always", glob) for glob in always]
    return Choice(
        specs=_specs(tag, name, func),
        always=list(always),
        takes=takes,
        words=shlex.join(itertools.chain.from_iterable(words)),
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
    return [[*common, Term(kind=kind, glob=name)] for kind in kinds]
