"""A sum at the end of a compiled agent: what a disk has damaged is not loaded.

The dynamic loader leaves a damaged library out with a line on stderr, or is killed by SIGBUS: the
tool would run without the agent, or not at all. What follows the sections of a library is free.
"""

from __future__ import annotations

from importlib.util import source_hash
from pathlib import Path

_SIZE = 8  # of the hash of .pyc files: the import of hashlib takes 5 ms


def seal(library: Path) -> None:
    """Append the sum to a library.

    Raises:
        OSError: it cannot be written.
    """
    content = library.read_bytes()
    with library.open("ab") as file:
        file.write(source_hash(content))


def is_whole(library: Path) -> bool:
    """Return whether a library is what was sealed."""
    try:
        content = library.read_bytes()
    except OSError:
        return False
    return len(content) > _SIZE and source_hash(content[:-_SIZE]) == content[-_SIZE:]
