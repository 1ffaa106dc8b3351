"""Texts that are put together of words, and the numbers that recordings hold packed."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa  # pyright: ignore[reportMissingTypeStubs]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actiondbg.recording.errors import RecordingError
from actiondbg.recording.format.items import unpack
from actiondbg.recording.log.lines import Coded, distinct, joined, number_parts

ARROW: Any = pa  # which has no types


def leb128(number: int) -> bytes:
    low, high = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + leb128(high) if high else bytes([low])


def unpacked(numbers: list[list[int]], differences: int) -> np.ndarray[tuple[int, ...], np.dtype]:
    """Return the items of sections, each of which is given by its numbers as they are packed."""
    payloads = [np.frombuffer(b"".join(map(leb128, each)), np.uint8) for each in numbers]
    found = unpack(payloads, [len(each) // 2 for each in numbers], ("a", "b"), differences)
    return np.stack([found["a"], found["b"]], axis=1).ravel()


# --- texts --------------------------------------------------------------------------------


def test_words_are_joined_row_by_row() -> None:
    words = ARROW.array(["", "a", "bé"])
    parts = [Coded(np.array(codes), words) for codes in ([1, 2, -1], [2, -1, -1], [0, 1, -1])]
    assert joined(parts).to_pylist() == ["abé", "béa", ""]


def test_many_words_of_which_few_are_used() -> None:
    words = ARROW.array([f"w{n}" for n in range(50_000)])
    codes = np.array([49_999, -1, 7, 49_999])
    assert joined([Coded(codes, words)]).to_pylist() == ["w49999", "", "w7", "w49999"]


@pytest.mark.parametrize(
    "numbers",
    [
        [0, 1, 9, 10, 9_999, 10_000, 10_001, 19_999, 100_000, 99_999_999],
        [2**31 - 1, 10**15 + 5, 3, 10_000 * 10_000],
        [123_456],
        [-1, 0, 12_345, -10_001],
        [],
    ],
)
def test_numbers_are_written(numbers: list[int]) -> None:
    texts = joined([*number_parts("@", np.array(numbers, np.int64))]).to_pylist()
    assert texts == [f"@{number}" if number >= 0 else "" for number in numbers]


@given(
    numbers=st.integers(1, 40).flatmap(
        lambda power: st.lists(st.integers(-(1 << power), 1 << power), min_size=1)
    )
)
def test_distinct_numbers_are_found(numbers: list[int]) -> None:
    keys = np.array(numbers)
    rows, places = distinct(keys)
    assert len(rows) == len(set(keys.tolist()))
    assert (keys[rows][places] == keys).all()


# --- packed numbers -----------------------------------------------------------------------


def test_many_numbers_are_unpacked() -> None:
    dice = random.Random(0)
    many = [dice.randrange(2 ** dice.choice([1, 7, 8, 14, 15, 21, 28, 31])) for _ in range(140_000)]
    assert unpacked([[1, 2], [], many, [3, 4]], 0).tolist() == [1, 2, *many, 3, 4]


NUMBERS = st.integers(1, 31).flatmap(lambda bits: st.integers(0, 2**bits - 1))
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), max_size=30)


@given(pairs=st.lists(PAIRS, min_size=1, max_size=5))
def test_numbers_of_any_length_are_unpacked(pairs: list[list[tuple[int, int]]]) -> None:
    sections = [[number for pair in section for number in pair] for section in pairs]
    assert unpacked(sections, 0).tolist() == [number for each in sections for number in each]


def test_differences_restart_with_each_section() -> None:
    # -1, +2, -2**31 and 2**31 - 1 are coded as 1, 4, 2**32 - 1 and 2**32 - 2.
    assert unpacked([[1, 0, 4, 9], [2**32 - 1, 3], [2**32 - 2, 3]], 1).tolist() == [
        *(-1, 0, 1, 9),
        *(-(2**31), 3),
        *(2**31 - 1, 3),
    ]


def test_a_number_that_is_not_whole_is_refused() -> None:
    whole = np.array([5, 6], np.uint8)
    with pytest.raises(RecordingError, match="0 packed numbers where 2 are expected"):
        unpack([np.append(whole, 0x80).astype(np.uint8)], [1], ("a", "b"), 0)
