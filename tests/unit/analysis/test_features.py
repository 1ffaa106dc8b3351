"""The features of a neighbourhood."""

from __future__ import annotations

import pytest

from actiondbg.analysis.features import Features, Value, features_of, shape_of
from actiondbg.protocol.notifications import (
    Adjacent,
    NearRegion,
    NearResult,
    NearUser,
    NearValue,
    Neighbour,
    Neighbourhood,
)


def operation(
    *operands: NearValue, attributes: dict[str, str] | None = None, results: int = 1
) -> Neighbourhood:
    """An operation in a function, whose results have the type of a tensor and two users."""
    users = [NearUser(name="test.a", operand=0, local=True)]
    users.append(NearUser(name="test.b", operand=1, local=False))
    return Neighbourhood(
        name="test.op",
        constant=False,
        attributes=attributes or {},
        operand_count=len(operands),
        result_count=results,
        operands=list(operands),
        results=[
            NearResult(value=90 + at, type="tensor<4xf32>", uses=2, users=users)
            for at in range(results)
        ],
        regions=[],
        successors=[],
        parents=["scf.for", "func.func"],
        previous=None,
        next=Adjacent(name="func.return", operands=[90]),
    )


def value(number: int, type: str = "tensor<4xf32>", definer: Neighbour | None = None) -> NearValue:
    return NearValue(
        value=number,
        type=type,
        uses=1,
        local=True,
        definer=definer,
        argument_of=None if definer else "func.func",
    )


def definer(name: str, *operands: NearValue, constant: bool = False) -> Neighbour:
    return Neighbour(
        name=name,
        constant=constant,
        attributes={"value": "3 : i32"} if constant else {},
        operand_count=len(operands),
        result_count=1,
        operands=list(operands),
    )


def said(features: Features) -> set[str]:
    """All features as statements."""
    return {feature.statement("is", found) for feature, found in features.items()}


@pytest.mark.parametrize(
    ("type", "expected"),
    [
        ("tensor<4x?xf32>", ("tensor", (4, None), "f32", "")),
        ("tensor<f32>", ("tensor", (), "f32", "")),
        ("tensor<2xf32, #test.encoding>", ("tensor", (2,), "f32", ", #test.encoding")),
        ("memref<8x4xvector<4xf32>, 1>", ("memref", (8, 4), "vector<4xf32>", ", 1")),
        ("vector<[4]x2xi1>", ("vector", (None, 2), "i1", "")),
    ],
)
def test_shapes(type: str, expected: tuple[object, ...]) -> None:
    shape = shape_of(type)
    assert shape is not None
    assert (shape.kind, shape.sizes, shape.element, shape.rest) == expected


@pytest.mark.parametrize("type", ["i32", "tensor<*xf32>", "!test.t<4xf32>", ""])
def test_types_without_a_shape(type: str) -> None:
    assert shape_of(type) is None


def test_definers_and_theirs() -> None:
    inner = value(3, definer=definer("test.inner", constant=True))
    found = said(features_of(operation(value(1, definer=definer("test.add", inner)), value(2))))
    assert {
        "operand 0 is defined by test.add",
        "operand 0 is no constant",
        "operand 1 is a block argument",
        "operand 1 is defined by an argument of func.func",
        "the operand of the definer of operand 0 is a constant",
        "the attribute value of the definer of the operand of the definer of operand 0 is 3",
        "no operand is a constant",
        "an operand of the operation is defined by test.add",
    } <= found


def test_equal_values_and_types() -> None:
    found = said(features_of(operation(value(1), value(1, "tensor<?xf32>"))))
    assert {
        "operand 0 and operand 1 are the same value",
        "two operands are the same value",
        "the types of operand 0 and the result are equal",
        "the types of operand 0 and operand 1 differ",
        "the ranks of operand 0 and operand 1 are equal",
        "the shape of operand 1 has a dynamic size",
    } <= found


def test_relations_to_a_definer() -> None:
    i, j, k = (value(number, "index") for number in (11, 12, 13))
    writer = definer("test.write", value(1), value(2), i, j)
    writer.attributes["map"] = "affine_map<(d0) -> (d0)>"
    around = operation(value(3, definer=writer), i, k, attributes=dict(writer.attributes))
    around.attributes["offset"] = "3 : i64"
    found = said(features_of(around))
    assert {
        "operand 1 and operand 2 of the definer of operand 0 are the same value",
        "operand 2 and operand 3 of the definer of operand 0 are different values",
        "the operation and the definer of operand 0 have different operands of type index",
        "the attributes map of the operation and of the definer of operand 0 are equal",
    } <= found
    assert not any("attributes offset of" in one for one in found)
    around = operation(value(3, definer=writer), i, j)
    same = "the operation and the definer of operand 0 have the same operands of type index"
    assert same in said(features_of(around))


def test_a_region_that_yields_an_operand_of_the_definer() -> None:
    filled, other = value(7, "f32"), value(8, "f32")
    around = operation(value(1, definer=definer("test.fill", filled)))
    around.regions.append(NearRegion(blocks=1, operations=1, yielded=[filled]))
    of_fill = "the value that the region yields and the operand of the definer of the operand are"
    assert f"{of_fill} the same value" in said(features_of(around))
    around.regions[0] = NearRegion(blocks=1, operations=1, yielded=[other])
    assert f"{of_fill} different values" in said(features_of(around))


@pytest.mark.parametrize(
    ("text", "aspect", "expected"),
    [
        ("3 : i32", "attribute", 3),
        ("-1 : index", "attribute", -1),
        ('"x"', "attribute", '"x"'),
        ("array<i64: 0, 1>", "identity", True),
        ("array<i64: 1, 0>", "identity", False),
        ("array<i64: 4, -9223372036854775808>", "fixed", False),
        ("array<i64: 1, 1>", "ones", True),
        ("dense<0> : vector<4xi64>", "splat", True),
        ("dense<[0, 1]> : vector<2xi64>", "splat", False),
        ("affine_map<(d0, d1) -> (d0, d1)>", "identity", True),
        (
            "[affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>]",
            "identity",
            False,
        ),
    ],
)
def test_attributes(text: str, aspect: str, expected: Value) -> None:
    features = features_of(operation(attributes={"key": text}))
    found = {feature.aspect: each for feature, each in features.items() if feature.detail == "key"}
    assert found[aspect] == expected


def test_users_and_surroundings() -> None:
    found = said(features_of(operation()))
    assert {
        "the number of uses of the result is 2",
        "the result is used by test.a",
        "all users of the result are of several kinds",
        "a user of the result is in another block",
        "the operation is inside scf.for",
        "the parent of the operation is scf.for",
        "the operation after it is func.return",
    } <= found


def test_regions() -> None:
    argument = value(5)
    unused = NearValue(value=6, type="i32", uses=0, local=True, argument_of="test.op")
    region = NearRegion(
        blocks=1,
        operations=2,
        arguments=[argument, unused],
        names=["test.a", "test.yield"],
        yielded=[argument],
    )
    around = operation()
    around.regions.append(region)
    assert {
        "the number of operations in the region is 2",
        "the region contains test.a",
        "the region has an argument without a use",
        "the region yields an argument of its own",
    } <= said(features_of(around))
