"""How slices nest, and the wire format, piece by piece."""

from __future__ import annotations

import random

import numpy as np
import pytest
from google.protobuf.internal import encoder
from hypothesis import given
from hypothesis import strategies as st

from actiondbg.recording.tables.action_rows import ends_of_nested
from actiondbg.recording.trace.byte_columns import content_of, string_array, tallies
from actiondbg.recording.trace.formats.perfetto import (
    bytes_field,
    fixed64_fields,
    messages,
    number_fields,
    varint,
    varints,
)
from actiondbg.recording.trace.slice_nesting import give_times, nesting_of
from tests.elements import some
from tests.fakes import strategies

EDGES = [0, 1, 127, 128, 16383, 16384, 2**31, 2**32 - 1, 2**32, 2**56 - 1, 2**62]


def _sequence(depths: list[int], shown: list[int]) -> list[int]:
    """Return begins (row) and ends (~row) of the shown rows, as a stack finds them."""
    stack: list[int] = []
    events: list[int] = []
    for row, depth in enumerate([*depths, -1]):
        while stack and depths[stack[-1]] >= depth:
            over = stack.pop()
            events += [~over] if over in shown else []
        stack.append(row)
        events += [row] if row in shown else []
    return events


@given(depths=strategies.depths(), data=st.data())
def test_rows_nest_by_their_depths(depths: list[int], data: st.DataObject) -> None:
    shown = sorted(data.draw(st.sets(st.integers(0, len(depths) - 1), min_size=1)))
    nesting = nesting_of(ends_of_nested(np.array(depths)), np.array(shown))
    sequence = [0] * (2 * len(shown))
    for row, begin, end in zip(shown, nesting.begins, nesting.ends, strict=True):
        sequence[begin], sequence[end] = row, ~row
    assert sequence == _sequence(depths, shown)


@given(depths=strategies.depths(), dice=st.randoms(use_true_random=False))
def test_all_times_of_a_thread_are_different_and_in_order(
    depths: list[int], dice: random.Random
) -> None:
    rows = np.arange(len(depths))
    nesting = nesting_of(ends_of_nested(np.array(depths)), rows)
    start = np.sort(np.array([dice.randrange(40) for _ in depths]))
    end = start + np.array([dice.choice((0, 0, 30)) for _ in depths])
    none = np.zeros(len(depths), np.bool_)
    given = start.copy(), end.copy()
    last = give_times(nesting, *given, none, none, 5)
    sequence = np.empty(2 * len(depths), np.int64)
    sequence[nesting.begins], sequence[nesting.ends] = given
    assert (np.diff(sequence) > 0).all()
    assert sequence[0] > 5 and sequence[-1] == last
    assert (given[0] >= start).all() and (given[1] >= end).all()


def test_distinct_times_are_kept() -> None:
    nesting = nesting_of(ends_of_nested(np.array([0, 1, 1])), np.arange(3))
    start, end = np.array([0, 10, 30]), np.array([50, 20, 40])
    none = np.zeros(3, np.bool_)
    assert give_times(nesting, start, end, none, none, -1) == 50
    assert (start.tolist(), end.tolist()) == ([0, 10, 30], [50, 20, 40])


def test_closed_rows_are_final_and_open_rows_wait() -> None:
    nesting = nesting_of(ends_of_nested(np.array([0, 1])), np.arange(2))
    given, waits = np.array([True, False]), np.array([True, False])
    begin, end = np.array([3, 4]), np.array([90, 4])
    assert give_times(nesting, begin, end, given, waits, 100) == 102
    assert begin.tolist() == [3, 101] and end.tolist() == [90, 102]


def test_varints_are_googles() -> None:
    ours = content_of(varints(np.array(EDGES)))
    theirs = b"".join(encoder._VarintBytes(number) for number in EDGES)  # type: ignore[attr-defined]
    assert bytes(ours) == theirs == b"".join(map(varint, EDGES))


@pytest.mark.parametrize("field", [1, 15, 16, 34, 2047, 2048])
def test_fields_are_googles(field: int) -> None:
    def theirs(make: object, *values: object) -> bytes:
        written: list[bytes] = []
        for value in some(values):
            make(field, False, False)(written.append, value, True)  # type: ignore[operator]
        return b"".join(written)

    texts = ["", "é", "x" * 200]
    encoded = [text.encode() for text in texts]
    numbers = np.array(EDGES)
    offsets = np.array([0, 2, 2, len(EDGES)])
    assert bytes(content_of(number_fields(field, numbers))) == theirs(encoder.UInt64Encoder, *EDGES)
    assert bytes(content_of(messages(field, string_array(texts)))) == theirs(
        encoder.BytesEncoder, *encoded
    )
    assert b"".join(bytes_field(field, text) for text in texts) == theirs(
        encoder.BytesEncoder, *encoded
    )
    assert bytes(content_of(fixed64_fields(field, numbers, offsets))) == theirs(
        encoder.Fixed64Encoder, *EDGES
    )


def test_tallies_count_the_actions_of_groups() -> None:
    offsets = np.array([0, 3, 4, 7])
    texts = tallies(offsets, np.array([5, 6, 5, 6, 5, 5, 6]), str)
    assert [texts.values[code].as_py() for code in texts.codes] == ["2 5; 6", "6", "2 5; 6"]


def test_long_tally_reports_what_it_omits() -> None:
    texts = tallies(np.array([0, 25]), np.arange(25), str)
    assert texts.values[0].as_py().endswith("; 19; 5 more")
