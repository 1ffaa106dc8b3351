"""The features of a neighbourhood: what may decide whether a pattern matches there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from typing import Literal, NamedTuple

import msgspec

from actiondbg.protocol.notifications import (
    NearRegion,
    NearResult,
    NearValue,
    Neighbour,
    Neighbourhood,
)

Value = str | int | bool
Relation = Literal["is", "is not", ">=", "<="]

_OPERATION = "the operation"
_MANY = 4  # operands of an operation that are described one by one
_RELATED = 8  # operands of an operation and of a definer that are compared one by one
_DYNAMIC = str(-(1 << 63))
_NUMBER = re.compile(r"(-?\d+)(?: : \S+)?")
_LIST = re.compile(r"array<i\d+(?:: ([-\d, ]+))?>|dense<\[?([-\d, ]*)\]?> : \S+")
_MAP = re.compile(r"affine_map<\((.*?)\)(?:\[\])? -> \((.*?)\)>")
_ANGLES = re.compile(r"<[^<>]*>")
_FUNCTION = re.compile(r"\(([^()]*)\) to (?:\(([^()]*)\)|([^()]+))")
_DEFINED = re.compile(r"the definer of ((?:operand \d+|the operand)(?! of))")
_SHAPED = re.compile(r"(tensor|memref|vector)<((?:(?:\?|\d+|\[\d+\])x)*)([^,]*)(.*)>")


class Aspect(NamedTuple):
    """One kind of feature."""

    phrase: str  # of the value, "the rank of {s}"; or of the fact, "{s} is a constant"
    opposite: str = ""  # of the fact; empty where the feature has a value
    # Of the claim: the less often patterns look at it, and the more values it may have, the more
    # evidence it needs.
    cost: int = 2


ASPECTS = {
    # what defines and uses values
    "constant": Aspect("{s} is a constant", "{s} is no constant", 0),
    "definer": Aspect("the definer of {s}", cost=0),
    "same": Aspect("{s} and {d} are the same value", "{s} and {d} are different values", 1),
    "same-operands": Aspect(
        "the operation and {s} have the same operands of type {d}",
        "the operation and {s} have different operands of type {d}",
        0,
    ),
    "uses": Aspect("the number of uses of {s}", cost=1),
    "argument": Aspect("{s} is a block argument", "{s} is no block argument"),
    "unused": Aspect("a result has no use", "every result has a use", 1),
    "any-constant": Aspect("an operand is a constant", "no operand is a constant", 1),
    "all-constant": Aspect("all operands are constants", "not all operands are constants", 1),
    "any-definer": Aspect(
        "an operand of {s} is defined by {d}", "no operand of {s} is defined by {d}", 1
    ),
    "any-same": Aspect("two operands are the same value", "all operands are different values", 1),
    "used-by": Aspect("{s} is used by {d}", "{s} is not used by {d}", 3),
    "users": Aspect("all users of {s}", cost=2),
    "local": Aspect("{s} is defined in the same block", "{s} is defined in another block", 2),
    "users-local": Aspect(
        "all users of {s} are in the same block", "a user of {s} is in another block", 2
    ),
    # attributes
    "attribute": Aspect("the attribute {d} of {s}", cost=2),
    "has": Aspect("{s} has the attribute {d}", "{s} has no attribute {d}", 1),
    "same-attribute": Aspect(
        "the attributes {d} of the operation and of {s} are equal",
        "the attributes {d} of the operation and of {s} differ",
        1,
    ),
    "identity": Aspect("{d} of {s} is an identity", "{d} of {s} is no identity", 1),
    "fixed": Aspect("all of {d} of {s} are static", "{d} of {s} has a dynamic entry", 2),
    "zeros": Aspect("all of {d} of {s} are 0", "not all of {d} of {s} are 0", 3),
    "ones": Aspect("all of {d} of {s} are 1", "not all of {d} of {s} are 1", 3),
    "inputs": Aspect("the number of inputs in {d} of {s}", cost=1),
    "outputs": Aspect("the number of results in {d} of {s}", cost=1),
    "splat": Aspect("{d} of {s} is a splat", "{d} of {s} is no splat", 1),
    # types
    "static": Aspect("the shape of {s} is static", "the shape of {s} has a dynamic size", 1),
    "rank": Aspect("the rank of {s}", cost=2),
    "kind": Aspect("the kind of type of {s}", cost=2),
    "element": Aspect("the element type of {s}", cost=3),
    "type": Aspect("the type of {s}", cost=6),
    "unit": Aspect("{s} has a size of 1", "{s} has no size of 1", 2),
    "size": Aspect("size {d} of {s}", cost=5),
    "last-size": Aspect("the last size of {s}", cost=5),
    "layout": Aspect("{s} has a layout or memory space", "{s} has a plain layout", 2),
    "same-type": Aspect("the types of {s} and {d} are equal", "the types of {s} and {d} differ", 1),
    "same-shape": Aspect(
        "the shapes of {s} and {d} are equal", "the shapes of {s} and {d} differ", 2
    ),
    "same-rank": Aspect("the ranks of {s} and {d} are equal", "the ranks of {s} and {d} differ", 3),
    "same-element": Aspect(
        "the element types of {s} and {d} are equal", "the element types of {s} and {d} differ", 3
    ),
    # structure
    "name": Aspect("the name of {s}", cost=1),
    "operands": Aspect("the number of operands of {s}", cost=2),
    "results": Aspect("the number of results of {s}", cost=2),
    "blocks": Aspect("the number of blocks of {s}", cost=2),
    "operations": Aspect("the number of operations in {s}", cost=1),
    "contains": Aspect("{s} contains {d}", "{s} contains no {d}", 2),
    "yields": Aspect("{s} yields {d}", "{s} does not yield {d}", 2),
    "unused-argument": Aspect(
        "{s} has an argument without a use", "every argument of {s} has a use", 1
    ),
    "predecessors": Aspect("the number of predecessors of {s}", cost=1),
    "arguments": Aspect("the number of arguments of {s}", cost=1),
    "first": Aspect("the first operation of {s}", cost=1),
    "shared": Aspect(
        "{s} is an operand of the operation {d} too", "{s} is no operand of the operation {d}", 2
    ),
    "same-block": Aspect("the successors are the same block", "the successors differ", 0),
    "parent": Aspect("the parent of {s}", cost=2),
    "inside": Aspect("{s} is inside {d}", "{s} is not inside {d}", 2),
    "previous": Aspect("the operation before it", cost=4),
    "next": Aspect("the operation after it", cost=4),
}


# Relations between what is at two places.
RELATIONS = {
    *("same", "same-operands", "same-attribute"),
    *("same-type", "same-shape", "same-rank", "same-element"),
}
TYPES = {"kind", "element", "type", "rank", "size", "last-size", "unit", "static"}
# Facts that are listed only where they hold.
_LISTED = {"any-definer", "used-by", "has", "contains", "yields", "inside"}


class Feature(NamedTuple):
    """An aspect of a subject that is ``distance`` steps away from the operation of the pattern."""

    aspect: str
    subject: str
    detail: str
    distance: int

    @property
    def cost(self) -> tuple[int, int]:
        """The distance and the cost of the aspect: cheap features are preferred."""
        return self.distance, ASPECTS[self.aspect].cost

    @property
    def definers(self) -> list[Feature]:
        """The features that name the definers to which the feature is about a relation."""
        if self.aspect not in RELATIONS:
            return []
        return [
            Feature("definer", found, "", 0)
            for found in _DEFINED.findall(f"{self.subject}; {self.detail}")
        ]

    @property
    def has_value(self) -> bool:
        """Whether the feature has a value, rather than being a fact that holds or does not."""
        return not ASPECTS[self.aspect].opposite

    def of(self, features: Features) -> Value | None:
        """Return the value among the features of an operation; None if there is none."""
        return features.get(self, False if self.aspect in _LISTED else None)

    def statement(self, relation: Relation, value: Value) -> str:
        """Return a sentence about the feature, such as "the rank of operand 0 is 3 or more"."""
        aspect = ASPECTS[self.aspect]
        if aspect.opposite:
            holds = (value is True) == (relation == "is")
            return self._fill(aspect.phrase if holds else aspect.opposite)
        noun = self._fill(aspect.phrase)
        if self.aspect == "uses" and relation == "is" and value in (0, 1):
            return f"{self.subject} has {'no' if value == 0 else 'one'} use"
        if self.aspect == "definer" and relation != ">=" and relation != "<=":
            return f"{self.subject} {relation} defined by {value}"
        match relation:
            case ">=":
                return f"{noun} is {value} or more"
            case "<=":
                return f"{noun} is {value} or less"
            case _:
                be = "are" if self.aspect == "users" else "is"
                return f"{noun} {relation.replace('is', be)} {value}"

    def _fill(self, phrase: str) -> str:
        return phrase.format(s=self.subject, d=self.detail)


Features = dict[Feature, Value]


class _Shape(msgspec.Struct, frozen=True):
    """The parts of a tensor, memref or vector type; None as a size is a dynamic one."""

    kind: str
    sizes: tuple[int | None, ...]
    element: str
    rest: str


def features_of(around: Neighbourhood) -> Features:
    """Return the features of a neighbourhood."""
    features = _Collector(_OPERATION, 0)
    features.operation(around)
    features.surroundings(around)
    for index, result in enumerate(around.results[:_MANY]):
        features.result(_numbered("result", index, around.result_count), result)
    for index, region in enumerate(around.regions[:_MANY]):
        features.region(_numbered("region", index, len(around.regions)), region)
    features.comparisons(around)
    return features.found


def _numbered(noun: str, index: int, count: int) -> str:
    return f"the {noun}" if count == 1 else f"{noun} {index}"


class _Collector:
    """Collects the features of an operation and of what is around it.

    Args:
        subject: the words for the operation.
        distance: the number of steps to it from the operation of the pattern; a step leads to the
            operation that defines an operand, for example.
    """

    def __init__(self, subject: str, distance: int) -> None:
        self.found: Features = {}
        self._subject = subject
        self._distance = distance

    def _add(
        self, aspect: str, value: Value | None, subject: str = "", detail: str = "", more: int = 0
    ) -> None:
        if value is not None:
            name = subject or self._subject
            self.found[Feature(aspect, name, detail, self._distance + more)] = value

    # --- an operation ---

    def operation(self, op: Neighbour) -> None:
        """Add the name, the attributes and the operands of an operation."""
        self._add("name", op.name)
        for name, text in op.attributes.items():
            self._attribute(name, text)
        if self._distance < 2:
            self._operands(op)

    def _attribute(self, name: str, text: str) -> None:
        self._add("has", True, detail=name)
        number = _NUMBER.fullmatch(text)
        self._add("attribute", int(number[1]) if number else text, detail=name)
        if text.startswith("dense<"):
            self._add("splat", not text.startswith("dense<["), detail=name)
        numbers = _LIST.fullmatch(text)
        if numbers:
            self._numbers(name, [one for one in re.split(r"[, ]+", numbers[1] or "") if one])
        maps = _MAP.findall(text)
        if maps:
            self._add("identity", all(a == b for a, b in maps), detail=name)
        self._signature(name, text)

    def _signature(self, name: str, text: str) -> None:
        """Add the numbers of types of a function type, without those in angle brackets."""
        flat, found = text.replace("->", "to"), 1
        while found:
            flat, found = _ANGLES.subn("", flat)
        if match := _FUNCTION.fullmatch(flat):
            for aspect, types in (("inputs", match[1]), ("outputs", match[2] or match[3])):
                self._add(aspect, len(types.split(",")) if types else 0, detail=name)

    def _numbers(self, name: str, numbers: list[str]) -> None:
        if not numbers:
            return
        self._add("fixed", _DYNAMIC not in numbers, detail=name)
        self._add("zeros", set(numbers) == {"0"}, detail=name)
        self._add("ones", set(numbers) == {"1"}, detail=name)
        self._add("identity", numbers == [str(i) for i in range(len(numbers))], detail=name)

    def _operands(self, op: Neighbour) -> None:
        self._add("operands", op.operand_count)
        definers = [value.definer for value in op.operands]
        self._any_operand(op, definers)
        of = "" if self._distance == 0 else f" of {self._subject}"
        for subject, value in _operands_of(op, of)[:_MANY]:
            self.value(subject, value)

    def _any_operand(self, op: Neighbour, definers: Sequence[Neighbour | None]) -> None:
        for name in {definer.name for definer in definers if definer is not None}:
            self._add("any-definer", True, detail=name)
        if self._distance == 0 and definers:
            constants = [definer is not None and definer.constant for definer in definers]
            self._add("any-constant", any(constants))
            self._add("all-constant", all(constants))
            self._add("any-same", len({one.value for one in op.operands}) < len(op.operands))

    def value(self, subject: str, value: NearValue) -> None:
        """Add a value, and the operation that defines it."""
        definer = value.definer
        self._type(subject, value.type)
        self._add("uses", value.uses, subject)
        self._add("local", value.local, subject)
        self._add("argument", definer is None, subject)
        self._add("constant", definer is not None and definer.constant, subject)
        if definer is None:
            self._add("definer", f"an argument of {value.argument_of}", subject)
            return
        self._add("definer", definer.name, subject)
        inner = _Collector(f"the definer of {subject}", self._distance + 1)
        inner.operation(definer)
        self.found |= {
            feature: each
            for feature, each in inner.found.items()
            if feature.aspect != "name"  # which is the definer of the value
        }

    def _type(self, subject: str, text: str) -> None:
        self._add("type", text, subject)
        shape = shape_of(text)
        if shape is None:
            self._add("kind", text.partition("<")[0], subject)
            return
        self._add("kind", shape.kind, subject)
        self._add("element", shape.element, subject)
        self._add("rank", len(shape.sizes), subject)
        self._add("static", None not in shape.sizes, subject)
        self._add("unit", 1 in shape.sizes, subject)
        self._add("layout", bool(shape.rest), subject)
        for index, size in enumerate(shape.sizes[:_MANY]):
            self._add("size", "?" if size is None else size, subject, str(index))
        if shape.sizes:
            last = shape.sizes[-1]
            self._add("last-size", "?" if last is None else last, subject)

    # --- around the operation ---

    def surroundings(self, around: Neighbourhood) -> None:
        """Add the parents, the neighbours in the block and the successors."""
        self._add("results", around.result_count)
        if around.results:
            self._add("unused", any(one.uses == 0 for one in around.results))
        self._add("parent", next(iter(around.parents), "nothing"))
        for name in set(around.parents):
            self._add("inside", True, detail=name)
        for aspect, which, one in (
            ("previous", "before it", around.previous),
            ("next", "after it", around.next),
        ):
            self._add(aspect, one.name if one else "nothing")
            for subject, value in _operands_of(around)[:_MANY] if one else []:
                shared = one is not None and value.value in one.operands
                self._add("shared", shared, subject, which, 1)
        if len(around.successors) > 1:
            self._add("same-block", len({one.block for one in around.successors}) == 1)
        for index, block in enumerate(around.successors[:_MANY]):
            subject = _numbered("successor", index, len(around.successors))
            self._add("predecessors", block.predecessors, subject)
            self._add("arguments", block.arguments, subject)
            self._add("operations", block.operations, subject)
            self._add("first", block.first or "nothing", subject)

    def result(self, subject: str, result: NearResult) -> None:
        """Add a result and its users."""
        self._type(subject, result.type)
        self._add("uses", result.uses, subject)
        names = sorted({user.name for user in result.users})
        for name in names:
            self._add("used-by", True, subject, name)
        if names:
            self._add("users", names[0] if len(names) == 1 else "of several kinds", subject)
            self._add("users-local", all(user.local for user in result.users), subject)

    def region(self, subject: str, region: NearRegion) -> None:
        """Add a region."""
        self._add("blocks", region.blocks, subject)
        if not region.blocks:
            return
        self._add("operations", region.operations, subject)
        for name in region.names:
            self._add("contains", True, subject, name)
        if region.arguments:
            unused = any(argument.uses == 0 for argument in region.arguments)
            self._add("unused-argument", unused, subject)
        arguments = {argument.value for argument in region.arguments}
        for value in region.yielded:
            own = value.value in arguments
            kind = "a constant" if value.definer and value.definer.constant else "another value"
            what = "an argument of its own" if own else kind
            if not own and not value.local:
                what = "a value from outside"
            self._add("yields", True, subject, what)

    def comparisons(self, around: Neighbourhood) -> None:
        """Add which values and types are the same, near the operation."""
        values: list[tuple[str, NearValue | NearResult, int]] = []
        for subject, one in _operands_of(around)[:_MANY]:
            values.append((subject, one, 0))
            if one.definer is not None:
                operands = _operands_of(one.definer, f" of the definer of {subject}")
                values += [(of, inner, 1) for of, inner in operands[:2]]
                self._definer(around, one.definer, subject)
        self._yielded(around)
        for index, one in enumerate(around.results[:_MANY]):
            values.append((_numbered("result", index, around.result_count), one, 0))
        for (a, one, a_far), (b, other, b_far) in combinations(values, 2):
            far = a_far + b_far
            if isinstance(one, NearValue) and isinstance(other, NearValue):
                self._add("same", one.value == other.value, a, b, far)
            self._compare(a, one.type, b, other.type, far)

    def _definer(self, around: Neighbourhood, definer: Neighbour, subject: str) -> None:
        """Add relations between the operation and the definer of one of its operands."""
        of = f"the definer of {subject}"
        for name in around.attributes.keys() & definer.attributes.keys():
            equal = around.attributes[name] == definer.attributes[name]
            self._add("same-attribute", equal, of, name, 1)
        for index, (operand, one) in enumerate(_operands_of(around)[:_RELATED]):
            first = 0 if index >= _MANY else 2  # the others are among the comparisons of all
            for inner_name, inner in _operands_of(definer, f" of {of}")[first:_RELATED]:
                if one.type == inner.type:
                    self._add("same", one.value == inner.value, operand, inner_name, 1)
        own, theirs = _by_type(around.operands), _by_type(definer.operands)
        for type in own.keys() & theirs.keys():
            if max(len(own[type]), len(theirs[type])) > 1:
                self._add("same-operands", own[type] == theirs[type], of, type, 1)

    def _yielded(self, around: Neighbourhood) -> None:
        """Add whether the regions yield operands of the operation, or of their definers."""
        values = list[tuple[str, NearValue]]()
        for subject, one in _operands_of(around)[:_MANY]:
            values.append((subject, one))
            if one.definer is not None:
                of = f" of the definer of {subject}"
                values += _operands_of(one.definer, of)[:_RELATED]
        for at, region in enumerate(around.regions[:_MANY]):
            by = _numbered("region", at, len(around.regions))
            for number, yielded in enumerate(region.yielded[:_MANY]):
                noun = _numbered("value", number, len(region.yielded))
                for name, one in values:
                    if one.type == yielded.type:
                        equal = one.value == yielded.value
                        self._add("same", equal, f"{noun} that {by} yields", name, 1)

    def _compare(self, a: str, a_type: str, b: str, b_type: str, far: int) -> None:
        self._add("same-type", a_type == b_type, a, b, far)
        one, other = shape_of(a_type), shape_of(b_type)
        if one is not None and other is not None:
            self._add("same-shape", one.sizes == other.sizes, a, b, far)
            self._add("same-rank", len(one.sizes) == len(other.sizes), a, b, far)
            self._add("same-element", one.element == other.element, a, b, far)


def _operands_of(op: Neighbour, of: str = "") -> list[tuple[str, NearValue]]:
    """Return the operands of an operation with their names, which end in what ``of`` says."""
    count = op.operand_count
    return [(_numbered("operand", at, count) + of, one) for at, one in enumerate(op.operands)]


def _by_type(operands: Sequence[NearValue]) -> dict[str, list[int]]:
    """Return the values of operands by their type, in order."""
    found: dict[str, list[int]] = {}
    for one in operands:
        found.setdefault(one.type, []).append(one.value)
    return found


def shape_of(type: str) -> _Shape | None:
    """Return the parts of a printed tensor, memref or vector type; None for any other type."""
    found = _SHAPED.fullmatch(type)
    if found is None or found[3].startswith("*"):
        return None
    sizes = tuple(int(size) if size.isdigit() else None for size in found[2].split("x")[:-1])
    return _Shape(found[1], sizes, found[3], found[4])
