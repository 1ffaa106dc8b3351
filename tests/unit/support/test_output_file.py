"""The errors of output files."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from actiondbg.errors import FileNotWritten
from actiondbg.support.output_file import write_file


@pytest.fixture
def closed_pipe() -> Iterator[str]:
    """The path of a pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    yield f"/proc/self/fd/{writer}"
    os.close(writer)


def test_an_output_that_nobody_reads(closed_pipe: str) -> None:
    """The command line ends quietly; what a session saves is refused, and the session goes on."""
    with pytest.raises(BrokenPipeError):
        write_file(closed_pipe, "text")
    with pytest.raises(FileNotWritten, match=r"The skips cannot be written to .*Broken pipe"):
        write_file(closed_pipe, "text", "The skips")
