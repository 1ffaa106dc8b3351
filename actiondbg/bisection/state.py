"""What is known of a bisection, kept in a file as it comes, to go on from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from actiondbg.bisection.verdict import Judgement, Verdict
from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.support.atomic_write import write_whole

STATE = "state.json"
_VERSION = 1


class _Kept(msgspec.Struct):
    verdict: Verdict
    reason: str


class _File(msgspec.Struct):
    version: int
    what: dict[str, Any]
    verdicts: dict[str, _Kept]


class State:
    """Verdicts by the digests of the trials' plans.

    Args:
        file: where they are kept; None to keep them nowhere.
        what: what was bisected, in named parts; verdicts of anything else do not hold.
        resume: read what the file holds; else it is written anew.

    Attributes:
        resumed: how many verdicts came from the file.

    Raises:
        UsageError: it cannot be resumed, as there is no file, or as it is of something else.
    """

    def __init__(self, file: Path | None, what: dict[str, Any], resume: bool = False) -> None:
        self._file = file
        self._what = what
        self._verdicts: dict[str, _Kept] = {}
        if resume and file is not None:
            self._verdicts = _read(file, what)
        self.resumed = len(self._verdicts)
        self.keep()

    def get(self, digest: str) -> Judgement | None:
        """Return the verdict on a trial, or None."""
        kept = self._verdicts.get(digest)
        return None if kept is None else Judgement(kept.verdict, kept.reason)

    def add(self, digest: str, judgement: Judgement) -> None:
        """Keep a verdict."""
        self._verdicts[digest] = _Kept(judgement.verdict, judgement.reason)
        self.keep()

    def forget(self, verdict: Verdict) -> None:
        """Forget all verdicts of a kind: they are to be made anew."""
        kept = self._verdicts.items()
        self._verdicts = {key: one for key, one in kept if one.verdict != verdict}
        self.keep()

    def check(self, name: str, value: Any) -> None:
        """Note one more part of what is bisected; raises UsageError when it was another."""
        if name in self._what and self._what[name] != value:
            raise UsageError(
                f"The bisection cannot be resumed: its {name} was {self._what[name]!r}, and is "
                f"{value!r} now."
            )
        self._what[name] = value
        self.keep()

    def keep(self) -> None:
        """Write all of it at once: who is killed meanwhile leaves the old file."""
        if self._file is None:
            return
        kept = _File(_VERSION, self._what, self._verdicts)
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._file, msgspec.json.format(msgspec.json.encode(kept)))
        except OSError as error:
            raise FileNotWritten(
                f"What is known cannot be kept in {str(self._file)!r} ({error.strerror}): name "
                "another folder with --output."
            ) from error


def is_anything_known(file: Path) -> bool:
    """Tell whether there are verdicts in a file of ours; true if it cannot be read."""
    try:
        return bool(msgspec.json.decode(file.read_bytes(), type=_File).verdicts)
    except (OSError, msgspec.DecodeError):
        return True


def _read(file: Path, what: dict[str, Any]) -> dict[str, _Kept]:
    try:
        kept = msgspec.json.decode(file.read_bytes(), type=_File)
    except FileNotFoundError:
        raise UsageError(
            f"There is nothing to resume in {str(file.parent)!r}: name the folder with --output, "
            "or leave --resume out."
        ) from None
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(
            f"What is known in {str(file)!r} cannot be read ({error}): leave --resume out."
        ) from error
    if kept.version != _VERSION:
        raise UsageError(
            f"{str(file)!r} was written by another version of actiondbg: leave --resume out."
        )
    for name, value in what.items():
        if kept.what.get(name) != value:
            raise UsageError(
                f"The bisection in {str(file.parent)!r} cannot be resumed: its {name} was "
                f"{kept.what.get(name)!r}, and is {value!r} now."
            )
    for name, value in kept.what.items():
        what.setdefault(name, value)
    return kept.verdicts
