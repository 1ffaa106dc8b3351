"""What operations on vectors and tensors do outside of bounds, by their documentation."""

from __future__ import annotations

import pytest

from actiondbg.validation.concrete import Concrete
from actiondbg.validation.domain import POISON, NotInterpreted, UndefinedBehaviour
from actiondbg.validation.interpreter import run_function
from actiondbg.validation.machine import Buffer, Elements, Machine, MemRef, RuntimeValue
from actiondbg.validation.program import Module, Operation, Value
from actiondbg.validation.program_reader import ProgramReader
from actiondbg.validation.types import BOOL, INDEX, IntegerType, ShapedType

pytestmark = pytest.mark.unit

I32 = IntegerType(32)
VECTOR = Elements((4,), [10, 11, 12, 13], I32)
TENSOR = Elements((2, 3), [1, 2, 3, 4, 5, 6], I32)


def result_of(arguments: str, body: str, result: str, *values: RuntimeValue) -> RuntimeValue:
    text = f"func.func @f({arguments}) -> {result} {{\n{body}\n return %r : {result}\n}}"
    return run_function(ProgramReader().read(text), "f", values, Concrete()).results[0]


def items(value: RuntimeValue) -> list[object]:
    return list(value.items)


def memory(*numbers: int) -> MemRef:
    return MemRef(Buffer(list(numbers), I32), 0, (len(numbers),), (1,))


@pytest.mark.parametrize(("at", "expected"), [(2, 12), (4, POISON), (2**64 - 1, POISON)])
def test_dynamic_extraction_outside_is_poison(at: int, expected: object) -> None:
    body = "%r = vector.extract %v[%i] : i32 from vector<4xi32>"
    assert result_of("%v: vector<4xi32>, %i: index", body, "i32", VECTOR, at) == expected


def test_extraction_at_a_poison_position_is_poison() -> None:
    body = "%r = vector.extract %v[%i] : i32 from vector<4xi32>"
    assert result_of("%v: vector<4xi32>, %i: index", body, "i32", VECTOR, POISON) is POISON


@pytest.mark.parametrize(
    ("at", "expected"), [(1, [10, 7, 12, 13]), (4, [POISON] * 4), (POISON, [POISON] * 4)]
)
def test_dynamic_insertion_outside_poisons_the_vector(at: object, expected: list[object]) -> None:
    body = "%r = vector.insert %x, %v[%i] : i32 into vector<4xi32>"
    arguments = "%v: vector<4xi32>, %i: index, %x: i32"
    found = result_of(arguments, body, "vector<4xi32>", VECTOR, at, 7)
    assert items(found) == expected


def test_insertion_with_one_position_of_two_outside_poisons_the_vector() -> None:
    body = "%r = vector.insert %x, %v[%i, %j] : i32 into vector<2x2xi32>"
    arguments = "%v: vector<2x2xi32>, %i: index, %j: index, %x: i32"
    square = Elements((2, 2), [1, 2, 3, 4], I32)
    outside = result_of(arguments, body, "vector<2x2xi32>", square, 0, 2, 7)
    inside = result_of(arguments, body, "vector<2x2xi32>", square, 0, 1, 7)
    assert items(outside) == [POISON] * 4
    assert items(inside) == [1, 7, 3, 4]


def test_static_position_of_minus_one_is_poison() -> None:
    body = "%r = vector.extract %v[-1] : i32 from vector<4xi32>"
    assert result_of("%v: vector<4xi32>", body, "i32", VECTOR) is POISON


def test_shuffle_with_minus_one_is_poison_there() -> None:
    body = "%r = vector.shuffle %v, %v [5, -1] : vector<4xi32>, vector<4xi32>"
    assert items(result_of("%v: vector<4xi32>", body, "vector<2xi32>", VECTOR)) == [11, POISON]


def test_bits_of_poison_are_poison_only_where_they_are() -> None:
    body = "%r = vector.bitcast %v : vector<4xi8> to vector<2xi16>"
    bytes_ = Elements((4,), [1, POISON, 2, 3], IntegerType(8))
    found = items(result_of("%v: vector<4xi8>", body, "vector<2xi16>", bytes_))
    assert found == [POISON, 0x0302]


@pytest.mark.parametrize("at", [3, 2**64 - 1, POISON])
def test_tensor_extraction_outside_is_undefined(at: object) -> None:
    body = "%r = tensor.extract %t[%i, %i] : tensor<2x3xi32>"
    with pytest.raises(UndefinedBehaviour):
        result_of("%t: tensor<2x3xi32>, %i: index", body, "i32", TENSOR, at)


@pytest.mark.parametrize(("offset", "size", "ok"), [(1, 2, True), (2, 2, False), (0, 4, False)])
def test_slice_must_be_within_its_tensor(offset: int, size: int, ok: bool) -> None:
    body = "%r = tensor.extract_slice %t[0, %o] [2, %s] [1, 1] : tensor<2x3xi32> to tensor<2x?xi32>"
    arguments = "%t: tensor<2x3xi32>, %o: index, %s: index"
    values = (TENSOR, offset, size)
    if not ok:
        with pytest.raises(UndefinedBehaviour):
            result_of(arguments, body, "tensor<2x?xi32>", *values)
        return
    assert items(result_of(arguments, body, "tensor<2x?xi32>", *values)) == [2, 3, 5, 6]


def test_new_tensor_is_poison() -> None:
    body = "%r = tensor.empty() : tensor<2xi32>"
    assert items(result_of("", body, "tensor<2xi32>")) == [POISON, POISON]


def test_cast_to_other_sizes_is_undefined() -> None:
    body = "%r = tensor.cast %t : tensor<?xi32> to tensor<4xi32>"
    with pytest.raises(UndefinedBehaviour):
        result_of("%t: tensor<?xi32>", body, "tensor<4xi32>", Elements((3,), [1, 2, 3], I32))


READ = "%r = vector.transfer_read %m[%i], %p {in_bounds = [BOUNDS]} : memref<?xi32>, vector<3xi32>"


def test_transfer_beyond_memory_is_padded_or_undefined() -> None:
    arguments = "%m: memref<?xi32>, %i: index, %p: i32"
    values = (memory(1, 2, 3, 4), 2, 9)
    free, promised = READ.replace("BOUNDS", "false"), READ.replace("BOUNDS", "true")
    assert items(result_of(arguments, free, "vector<3xi32>", *values)) == [3, 4, 9]
    with pytest.raises(UndefinedBehaviour):
        result_of(arguments, promised, "vector<3xi32>", *values)


def test_transfer_that_starts_beyond_memory_is_padding() -> None:
    arguments = "%m: memref<?xi32>, %i: index, %p: i32"
    free = READ.replace("BOUNDS", "false")
    assert items(result_of(arguments, free, "vector<3xi32>", memory(1, 2), 5, 9)) == [9, 9, 9]


@pytest.mark.parametrize(("mask", "expected"), [([1, 1, 0], [3, 4, 9]), ([1, 1, 1], None)])
def test_only_lanes_that_are_on_must_be_in_memory(
    mask: list[int], expected: list[int] | None
) -> None:
    body = (
        "%r = vector.transfer_read %m[%i], %p, %k {in_bounds = [true]} : "
        "memref<?xi32>, vector<3xi32>"
    )
    arguments = "%m: memref<?xi32>, %i: index, %p: i32, %k: vector<3xi1>"
    values = (memory(1, 2, 3, 4), 2, 9, Elements((3,), mask, BOOL))
    if expected is None:
        with pytest.raises(UndefinedBehaviour):
            result_of(arguments, body, "vector<3xi32>", *values)
        return
    assert items(result_of(arguments, body, "vector<3xi32>", *values)) == expected


def test_load_beyond_memory_has_any_elements_but_a_store_is_undefined() -> None:
    load = "%r = vector.load %m[%i] : memref<?xi32>, vector<3xi32>"
    found = result_of("%m: memref<?xi32>, %i: index", load, "vector<3xi32>", memory(1, 2), 1)
    assert items(found) == [2, POISON, POISON]
    store = "vector.store %r, %m[%i] : memref<?xi32>, vector<3xi32>"
    arguments = "%m: memref<?xi32>, %i: index, %r: vector<3xi32>"
    value = Elements((3,), [7, 8, 9], I32)
    with pytest.raises(UndefinedBehaviour):
        result_of(arguments, store, "vector<3xi32>", memory(1, 2), 1, value)


def test_gather_ignores_positions_of_lanes_that_are_off() -> None:
    body = (
        "%r = vector.gather %m[%c] [%at], %k, %v : "
        "memref<?xi32>, vector<2xindex>, vector<2xi1>, vector<2xi32> into vector<2xi32>"
    )
    arguments = "%m: memref<?xi32>, %c: index, %at: vector<2xindex>, %k: vector<2xi1>"
    arguments += ", %v: vector<2xi32>"
    far = Elements((2,), [1, POISON], INDEX)
    passed = Elements((2,), [50, 51], I32)
    first, all_ = (Elements((2,), lanes, BOOL) for lanes in ([1, 0], [1, 1]))
    found = result_of(arguments, body, "vector<2xi32>", memory(1, 2), 0, far, first, passed)
    assert items(found) == [2, 51]
    with pytest.raises(UndefinedBehaviour):
        result_of(arguments, body, "vector<2xi32>", memory(1, 2), 0, far, all_, passed)


def test_scatter_of_two_elements_to_one_place_has_no_meaning() -> None:
    body = (
        "vector.scatter %m[%c] [%at], %k, %r : "
        "memref<?xi32>, vector<2xindex>, vector<2xi1>, vector<2xi32>"
    )
    arguments = "%m: memref<?xi32>, %c: index, %at: vector<2xindex>, %k: vector<2xi1>"
    arguments += ", %r: vector<2xi32>"
    same, on = Elements((2,), [1, 1], INDEX), Elements((2,), [1, 1], BOOL)
    with pytest.raises(NotInterpreted):
        result_of(arguments, body, "vector<2xi32>", memory(1, 2), 0, same, on, same)


def test_operands_of_linalg_with_other_sizes_are_undefined() -> None:
    body = (
        "%r = linalg.add ins(%a, %a : tensor<?xi32>, tensor<?xi32>) "
        "outs(%b : tensor<?xi32>) -> tensor<?xi32>"
    )
    two, three = Elements((2,), [1, 2], I32), Elements((3,), [1, 2, 3], I32)
    arguments = "%a: tensor<?xi32>, %b: tensor<?xi32>"
    assert items(result_of(arguments, body, "tensor<?xi32>", two, two)) == [2, 4]
    with pytest.raises(UndefinedBehaviour):
        result_of(arguments, body, "tensor<?xi32>", two, three)


@pytest.mark.parametrize(
    ("source", "result", "given", "expected"),
    [
        ("vector<2xi8>", "i16", [0xCD, 0xAB], 0xABCD),
        ("vector<2xi8>", "i16", [POISON, 0xAB], POISON),
        ("vector<4xi8>", "vector<2xi16>", [1, POISON, 3, 4], [POISON, 0x0403]),
        ("vector<1xi16>", "vector<2xi8>", [POISON], [POISON, POISON]),
    ],
)
def test_a_bitcast_of_poison_bits_is_poison(
    source: str, result: str, given: list[object], expected: object
) -> None:
    body = f"%r = llvm.bitcast %v : {source} to {result}"
    value = Elements((len(given),), given, IntegerType(8 if source.endswith("i8>") else 16))
    found = result_of(f"%v: {source}", body, result, value)
    assert (items(found) if isinstance(found, Elements) else found) == expected


def test_elements_of_another_shape_than_the_result_have_no_meaning() -> None:
    operand = Value(ShapedType("vector", (4,), I32))
    result = Value(ShapedType("vector", (2,), IntegerType(64)))
    machine = Machine(Module({}, {}), Concrete())
    with pytest.raises(NotInterpreted):
        machine.elementwise(Operation("arith.extui", (operand,), (result,), {}), [VECTOR])
