"""The answer to why a conversion failed, or why it left operations."""

from __future__ import annotations

import re
from collections import Counter
from typing import Literal, NamedTuple

import msgspec

from actiondbg.analysis.legalization.tree import Conversion, Legalization, TriedPattern
from actiondbg.protocol import Culprit, Unit
from actiondbg.protocol.legalizations import (
    BlockArgument,
    CastLeft,
    CastUnresolved,
    Neighbour,
    OperationsLeft,
)
from actiondbg.support.counts import counted
from actiondbg.support.globs import glob_matches
from actiondbg.support.source_file import known_place

CauseKind = Literal[
    "no pattern",
    "verified",
    "pattern left out",
    "type",
    "reason",
    "no reason",
    "recursion",
    "generated",
    "materialization",
    "error",
    "unfinished",
    "unknown",
]

_ANONYMOUS = re.compile(r"^(\w+::)*(\(anonymous namespace\)|\{anonymous\})::")
_MATERIALIZATION = re.compile(
    r"failed to legalize unresolved materialization from \((?P<source>.*)\) to "
    r"\((?P<target>.*)\) that remained live"
)
_LEGALIZE = re.compile(r"failed to legalize operation '(?P<op>[^']*)'")

CAST = "builtin.unrealized_conversion_cast"
_MOST_REASONS = 3  # in one clause

# Such as "[mlir-spirv-conversion] SPIRVConversion.cpp:172 ".
_DEBUG_PREFIX = re.compile(r"^\s*\[[\w.-]+(?:[: ][^\]]*)?\]:?\s*(?:[\w./-]+\.(?:cpp|h):\d+:?\s*)?")
# Of the types in the output; and what is reported, which are reasons.
_NO_DEBUG = re.compile(r"^\s*\[asm-printer\b|^\S+:\d+: error: ")


class Step(NamedTuple):
    """An operation on the way, and the pattern that led on; None at the end of the way."""

    legalization: Legalization
    tried: TriedPattern | None


class Cause(NamedTuple):
    """What is missing."""

    kind: CauseKind  # of what is missing; "unknown" where nothing tells
    text: str  # one clause, such as "no pattern for math.erf"
    # From the operation that the conversion failed at, or left, to the one for which something is
    # missing.
    way: list[Step]
    others: int = 0  # the number of other patterns that failed at the end of the way


def short_name(pattern: str) -> str:
    """Return a pattern's name without the anonymous namespace and those around it."""
    return _ANONYMOUS.sub("", pattern)


def cause_of(legalization: Legalization) -> Cause:
    """Return why an operation was not legalized."""
    way: list[Step] = []
    here = legalization
    while True:
        tried = _most_telling(here)
        inner = _not_legalized(tried) if tried is not None else None
        if tried is None or inner is None or len(_made(here)) > 1:
            way.append(Step(here, tried))
            break
        way.append(Step(here, tried))
        here = inner
    maker = way[-2].tried if len(way) > 1 else None
    kind, text = _missing(here, tried, maker)
    if maker is not None and kind not in ("no pattern", "unfinished"):
        text = f"pattern {short_name(maker.name)} makes {here.op}, and {text}"
    return Cause(kind, text, way, max(len(here.tried) - 1, 0))


def cause_of_failure(conversion: Conversion) -> Cause:
    """Return why a conversion failed."""
    for error in conversion.errors:
        if match := _MATERIALIZATION.search(error.text):
            source, target = _types(match["source"]), _types(match["target"])
            text = _unresolved(source, target, conversion.unresolved)
            return Cause("materialization", text, [])
    failed = [one for one in conversion.legalizations if one.legalized is not True]
    reported = {
        match["op"] for error in conversion.errors if (match := _LEGALIZE.search(error.text))
    }
    if failed and conversion.is_cut:
        return Cause("unknown", "more was tried for it than is kept", [Step(failed[-1], None)])
    if failed and (not reported or failed[-1].op in reported):
        return _refusal(failed[-1]) if conversion.verifies else cause_of(failed[-1])
    if conversion.errors:
        return Cause("error", conversion.errors[0].text, [])
    if failed:
        return cause_of(failed[-1])
    return Cause("unknown", "it failed without an error, and without an operation left over", [])


def _refusal(here: Legalization) -> Cause:
    """Return what a conversion without patterns, which only verifies, refuses."""
    why = "the target refuses it" if here.illegal else "the target does not know it"
    if here.types:
        by = here.types[0].converter or "its type converter"
        why += f", as {by} does not convert {here.types[0].type}"
    text = f"{why}; the conversion only verifies, and has no patterns"
    return Cause("verified", text, [Step(here, None)])


def blockers(conversion: Conversion) -> list[Legalization]:
    """Return the operations around that at which a conversion failed, for which it tried patterns
    in vain as well.
    """
    return [one for one in conversion.legalizations[:-1] if not one.legalized and one.tried]


def _types(text: str) -> str:
    return text.replace("'", "")


def _unresolved(source: str, target: str, cast: CastUnresolved | None) -> str:
    """Describe a cast by the neighbour that was not converted, where that is known."""
    user = None if cast is None else next(iter(cast.users), None)
    if cast is None or user is None:
        return f"a value of type {target} is still needed where only {source or 'nothing'} is left"
    definer = cast.definer
    if definer is not None and cast.block is not None and user.converted:
        return (
            f"{argument_words(cast.block)} of {_operation(definer)} is still of type {source} "
            f"where {_operation(user)} needs {target}{_passers(cast.block)}"
        )
    if definer is not None and user.converted and not definer.converted:
        what = "an argument of " if cast.argument else ""
        has = "is still of" if cast.argument else "still gives"
        return (
            f"{what}{_operation(definer)} was not converted, and {has} type {source} where "
            f"{_operation(user)} needs {target}"
        )
    left = next((each for each in cast.users if not each.converted), None)
    if left is None or (definer is not None and not definer.converted):
        what = f"only {source} is left" if source else "the value was erased"
        return f"{_operation(user)} needs type {target} where {what}"
    now = f"of a value that is now {source}" if source else "of a value that was erased"
    return f"{_operation(left)} was not converted, and still needs the type {target} {now}"


def argument_words(block: BlockArgument) -> str:
    """Return which argument of a block it is, such as ``argument 0 of ^bb1``."""
    return f"argument {block.argument} of ^bb{block.number}"


def _passers(block: BlockArgument) -> str:
    """Return a clause on the operation that passes an argument and that was not converted."""
    left = sorted((each for each in block.passed_by if not each.converted), key=lambda op: op.tried)
    if not left:
        return ""
    place = f" at {known_place(left[0].location)}" if known_place(left[0].location) else ""
    rest = "was not converted" if left[0].tried else "the conversion tried no pattern for it"
    return f"; {_operation(left[0])}{place} passes it, and {rest}"


def _operation(op: Neighbour) -> str:
    return op.name if op.id is None else f"@{op.id} {op.name}"


def said_lines(said: str | None) -> list[str]:
    """Return what a conversion of a type, or a check, said in the debug output of the tool."""
    lines = (said or "").splitlines()
    plain = [_DEBUG_PREFIX.sub("", line).strip() for line in lines if not _NO_DEBUG.match(line)]
    return [line for line in dict.fromkeys(plain) if line]


def rank(tried: TriedPattern) -> int:
    """Return how much a failure tells, 0 for most: how near the pattern came to its success.

    A pattern for any operation comes after those for this one.
    """
    if tried.result is None:
        return -1
    of_any = 5 * tried.any_operation
    if tried.result == "rolled back":
        return of_any
    if tried.types:
        return of_any + 1
    if tried.reasons:
        return of_any + 2
    return of_any + (3 if tried.result == "failed" else 4)


def _most_telling(here: Legalization) -> TriedPattern | None:
    failed = [each for each in here.tried if each.result != "succeeded"]
    return min(failed, key=rank, default=None)


def _own(here: Legalization) -> list[TriedPattern]:
    """Return the patterns for an operation: those for any operation only if there are no others."""
    return [each for each in here.tried if not each.any_operation] or here.tried


def _not_legalized(tried: TriedPattern) -> Legalization | None:
    """Return the operation that a pattern generated and that could not be legalized."""
    return next((each for each in reversed(tried.generated) if each.legalized is not True), None)


def _made(here: Legalization) -> dict[str, str]:
    """Return the names of the operations that patterns made for an operation and that were not
    legalized, each with the first pattern that made such an operation.
    """
    made: dict[str, str] = {}
    for tried in _own(here):
        if tried.result == "rolled back" and (inner := _not_legalized(tried)) is not None:
            made.setdefault(inner.op, short_name(tried.name))
    return made


def _missing(
    here: Legalization, tried: TriedPattern | None, maker: TriedPattern | None
) -> tuple[CauseKind, str]:
    """Return what is missing at the end of a way, for an operation that ``maker`` made."""
    if tried is None:
        return _without_pattern(here, maker)
    name = short_name(tried.name)
    if tried.result is None:
        return "unfinished", f"pattern {name} was being applied when the tool stopped"
    if tried.any_operation and tried.result != "rolled back":
        return _without_pattern(here, maker)
    if tried.types:
        return "type", f"pattern {name} {_lack(tried)}"
    if made := _made(here):
        makers = "; ".join(f"{pattern} makes {op}" for op, pattern in made.items())
        return "generated", f"what its patterns make could not be legalized: {makers}"
    if tried.result == "rolled back":
        why = "; ".join(_reasons(tried))
        text = f"what pattern {name} made could not be legalized"
        return "generated", f"{text}: {why}" if why else text
    return _unmatched(here, tried)


def _unmatched(here: Legalization, tried: TriedPattern) -> tuple[CauseKind, str]:
    name, reasons, own = short_name(tried.name), _reasons(tried), _own(here)
    failed = [one for one in own if one.result == "failed"]
    if reasons and len(failed) > 1:
        return "reason", f"none of {len(failed)} patterns matched: {_why(failed)}"
    if reasons:
        return "reason", f"pattern {name} did not match: {'; '.join(reasons)}"
    if tried.result == "refused":
        return "recursion", f"pattern {name} {_lack(tried)}"
    unheard = "; the agent cannot hear why" if any(one.unheard for one in failed) else None
    if len(own) > 1:
        none = f"none of {counted(len(failed), 'pattern')} for {here.op} matched"
        return "no reason", none + (unheard or ", and none gave a reason")
    return "no reason", f"pattern {name} did not match{unheard or ', and gave no reason'}"


def _reasons(tried: TriedPattern) -> list[str]:
    return [each.rstrip(".") for each in tried.reasons if not each.startswith("rolled back")]


def _lack(tried: TriedPattern) -> str | None:
    """Return what a pattern lacked, behind its name; None if that is not known."""
    if tried.types:
        by = tried.types[0].converter or "its type converter"
        return f"needs type {tried.types[0].type}, which {by} does not convert"
    if reasons := _reasons(tried):
        return f'says "{"; ".join(reasons)}"'
    return "is not tried for what it makes itself" if tried.result == "refused" else None


def _why(tried: list[TriedPattern]) -> str:
    """Return what several patterns lacked: nothing tells which of them should have matched."""
    said = [f"{short_name(one.name)} {lack}" for one in tried if (lack := _lack(one))]
    words = said[:_MOST_REASONS]
    if len(said) > _MOST_REASONS:
        words.append(f"{len(said) - _MOST_REASONS} more gave other reasons")
    if len(said) < len(tried):
        is_unheard = any(one.unheard for one in tried if not _lack(one))
        rest = "failed for reasons that cannot be heard" if is_unheard else "gave no reason"
        words.append(f"{len(tried) - len(said)} {rest}")
    return "; ".join(words)


def _without_pattern(here: Legalization, maker: TriedPattern | None) -> tuple[CauseKind, str]:
    if here.legalized is None:
        return "unfinished", f"the tool stopped before a pattern for {here.op} was called"
    for left_out in here.left_out:
        bad = [one for one in left_out.generates if one.legality in ("illegal", "unknown")]
        if bad:
            return "pattern left out", (
                f"pattern {short_name(left_out.name)} for {here.op} is left out, as it generates "
                f"{bad[0].name}, which is not legal and for which there is no pattern"
            )
    if here.types:
        first = here.types[0]
        by = first.converter or "the type converter"
        return "no pattern", (
            f"no pattern for {here.op}, which is legal only if its types are: "
            f"{by} does not convert {first.type}"
        )
    but = f", but {len(here.tried)} for any operation: {_why(here.tried)}" if here.tried else ""
    if maker is not None:
        refuses = "does not know" if here.illegal is False else "refuses"
        return "no pattern", (
            f"pattern {short_name(maker.name)} makes {here.op}, which the target {refuses}, and "
            f"for which there is no pattern{but}"
        )
    return "no pattern", f"no pattern for {here.op}{but}"


# --- explanation ---


_TELLS_LITTLE: dict[CauseKind, int] = {"no reason": 1, "no pattern": 2}


class LeftGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Operations of one name that one conversion left, for the same cause."""

    conversion: Conversion  # the conversion
    cause: Cause  # why
    first: Legalization  # the first of the operations
    count: int  # the number of operations


class OtherFailure(msgspec.Struct, frozen=True, kw_only=True):
    """The first failure of a run in which no dialect conversion failed."""

    # "verifier" if that refused the IR, "pass" if a pass failed, "crash" of the tool.
    kind: Literal["verifier", "pass", "crash"]
    # What was reported first; of the verifier with the operation on which it failed; of a crash a
    # sentence.
    message: str
    # The pass; of the verifier the last pass that had ended, None for the input and for a crash.
    culprit: Culprit | None = None
    unit: Unit | None = None  # the operation that the error of a pass is about, if that is known


class BesideCasts(msgspec.Struct, frozen=True, kw_only=True):
    """Operations of one name next to casts, that were not converted."""

    first: Neighbour  # the first of the operations
    count: int  # the number of operations
    why: Explanation  # why conversions left the first


class Explanation(msgspec.Struct, kw_only=True):
    """What the dialect conversions of a run tried in vain, up to now."""

    # The operations that were asked for, such as "@12" or "op:memref.*"; None for the conversion
    # that failed.
    target: str | None
    # Those that failed, and with a target those that left some of its operations, in their order;
    # where the verifier failed, those of the pass before it that left any.
    conversions: list[Conversion]
    # The first other failure, if no conversion failed, or one that its pass ignored; None without
    # one.
    other: OtherFailure | None = None
    # Of a conversion that failed at an operation for which it has no pattern: why earlier
    # conversions left the operation that needs it; None if they left none.
    needed_by: Explanation | None = None
    # Of casts that are left at the stop: the operations next to them that were not converted.
    beside: list[BesideCasts] = msgspec.field(default_factory=lambda: list[BesideCasts]())
    # Of a run that succeeded: why casts are left at its end; None if none is left.
    casts: Explanation | None = None
    status: int = 0  # the exit status of a tool that failed for another reason; 0 of all others
    # Whether the answer is from a recording, which does not hold failures of the verifier.
    is_recorded: bool = False

    @property
    def failed(self) -> Conversion | None:
        """Return the newest conversion that failed, or that did not end; None if the run failed
        otherwise.
        """
        newest = (each for each in reversed(self.conversions) if each.failed is not False)
        return None if self.other is not None else next(newest, None)

    def take_other(self, other: OtherFailure | None) -> None:
        """Keep another failure, unless a conversion failed in its pass or later, or did not end."""
        culprit, failed = None if other is None else other.culprit, self.failed
        is_later = failed is not None and culprit is not None and culprit.ordinal > failed.ordinal
        if failed is None or (failed.failed and is_later):
            self.other = other

    @property
    def cause(self) -> Cause | None:
        """Return why ``failed`` failed."""
        return None if self.failed is None else cause_of_failure(self.failed)

    @property
    def blockers(self) -> list[Legalization]:
        """Return the operations around that at which ``failed`` failed, which it left as well."""
        return [] if self.failed is None else blockers(self.failed)

    def groups(self) -> list[LeftGroup]:
        """Group the operations of the target, or without one all, that conversions did not legalize
        by conversion, name and cause.

        First come those for which a pattern lacked something, then those without a reason, then
        those without a pattern, each in the order of conversions.
        """
        groups: list[LeftGroup] = []
        for conversion in self.conversions:
            found: dict[tuple[str, str], list[tuple[Legalization, Cause]]] = {}
            for one in self._wanted(conversion):
                cause = cause_of(one)
                found.setdefault((one.op, cause.text), []).append((one, cause))
            groups += [
                LeftGroup(
                    conversion=conversion,
                    cause=members[0][1],
                    first=members[0][0],
                    count=len(members),
                )
                for members in found.values()
            ]
        return sorted(groups, key=_order)

    def _wanted(self, conversion: Conversion) -> list[Legalization]:
        """Return the operations of the target; that at which a conversion failed comes twice.

        Without a target, return those of conversions that succeeded for which patterns were tried.
        """
        if self.target is None:
            return [
                one
                for one in conversion.legalizations
                if one.tried and not one.legalized and not conversion.failed
            ]
        kind, _, glob = (self.target or "").rpartition(":")
        found: list[Legalization] = []
        seen: set[int] = set()
        for one in conversion.legalizations:
            is_wanted = glob_matches(glob, one.op) if kind else f"@{one.id}" == self.target
            if is_wanted and one.id not in seen:
                found.append(one)
                seen |= {one.id} if one.id is not None else set()
        return found

    def never_tried(self) -> list[tuple[Conversion, OperationsLeft]]:
        """Return the names of operations that a conversion left without trying any pattern.

        The newest casts come first: later conversions replace casts of earlier conversions.
        """
        found = [
            (conversion, left)
            for conversion in self.conversions
            for left in conversion.left
            if self.target in (f"@{left.id}", None) or ":" in (self.target or "")
            if left.name not in conversion.untold
            and not any(each.op == left.name for each in conversion.legalizations)
        ]
        return sorted(found, key=lambda each: -each[0].ordinal if each[1].casts else 0)

    def casts_left(self) -> list[tuple[Conversion, CastLeft]]:
        """Return the casts that are left at the stop, each with the last conversion that left
        it.
        """
        newest: dict[int | None, tuple[Conversion, CastLeft]] = {}
        for conversion, left in self.never_tried():
            for cast in left.casts:
                if not cast.gone:
                    newest.setdefault(cast.id, (conversion, cast))
        return list(newest.values())

    def left_now(self) -> list[tuple[Conversion, OperationsLeft]]:
        """Return ``never_tried`` without casts that are gone at the stop, and with each cast once;
        all of them if none is left.
        """
        kept = {(conversion.ordinal, cast.id) for conversion, cast in self.casts_left()}
        found: list[tuple[Conversion, OperationsLeft]] = []
        for conversion, left in self.never_tried():
            casts = [cast for cast in left.casts if (conversion.ordinal, cast.id) in kept]
            if kept and casts:
                count = left.count - len(left.casts) + len(casts)  # not all are told
                now = msgspec.structs.replace(left, casts=casts, count=count, id=casts[0].id)
                found.append((conversion, now))
            elif not kept or not left.casts:
                found.append((conversion, left))
        return found

    def beside_casts(self) -> list[Neighbour]:
        """Return the operations next to casts that are left at the stop, each once, that were not
        converted when the cast was made, and are still next to it.
        """
        found: dict[int | None, Neighbour] = {}
        made = {cast.id: cast for _, left in self.never_tried() for cast in left.casts if cast.made}
        for _, cast in self.casts_left():
            now = {each.id for each in _next_to(cast)}
            for each in _next_to(made[cast.id]) if cast.id in made else []:
                if not each.converted and each.id in now and each.name != CAST:
                    found.setdefault(each.id, each)
        return list(found.values())

    def untold(self) -> dict[str, int]:
        """Return the number of operations that conversions left and that ``groups`` lacks, by name:
        what was tried is kept for the first ones only. Of several passes that left a name, the
        largest number is taken, as they may have left the same operations.
        """
        if self.target is None:
            return {}
        of_pass: dict[str | None, Counter[str]] = {}
        for conversion in self.conversions:
            of_pass.setdefault(conversion.pass_name, Counter()).update(conversion.untold)
        found: Counter[str] = Counter()
        for counts in of_pass.values():
            found |= counts
        return dict(found)


def _next_to(cast: CastLeft) -> list[Neighbour]:
    definers = [] if cast.definer is None else [cast.definer]
    return [*(definers if cast.block is None else cast.block.passed_by), *cast.users]


def _order(group: LeftGroup) -> int:
    is_reached = len(group.cause.way) > 1  # by a pattern that matched
    return 0 if is_reached else _TELLS_LITTLE.get(group.cause.kind, 0)
