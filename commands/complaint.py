"""The words of an error, for people and for readers of JSON."""

from __future__ import annotations


def message_of(error: Exception) -> str:
    """Return an error's sentence; of a file that cannot be used, its name and why."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}."
    return str(error)
