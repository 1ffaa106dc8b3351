"""The cache of verdicts, which ``--resume`` reads from a file."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from actiondbg.bisection.verdict import Judgement, Verdict
from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.support.atomic_write import write_whole

_VERSION = 3


class _Kept(msgspec.Struct):
    verdict: Verdict
    reason: str


class _Versioned(msgspec.Struct):
    version: int


class _File(_Versioned):
    what: dict[str, str]
    verdicts: dict[str, _Kept]
    outputs: dict[str, _Kept]


class VerdictStore:
    """Judgements by the digests of trials, and by those of outputs. Threads may share it.

    Args:
        file: written after each change; None for no file.
        identity: names and values of what the verdicts depend on, such as the command line.
        resume: read the file first; else it is overwritten.

    Attributes:
        resumed: the number of verdicts that were read from the file.

    Raises:
        UsageError: ``resume`` is set, and there is no file or it is of another bisection.
    """

    def __init__(self, file: Path | None, identity: dict[str, str], resume: bool = False) -> None:
        self._file = file
        self._identity = identity
        self._verdicts: dict[str, _Kept] = {}
        self._outputs: dict[str, _Kept] = {}
        if resume and file is not None:
            kept = _read(file, identity)
            self._verdicts, self._outputs = kept.verdicts, kept.outputs
        self.resumed = len(self._verdicts)
        self._save()

    def get(self, digest: str) -> Judgement | None:
        """Return the judgement of a trial, or None."""
        kept = self._verdicts.get(digest)
        return None if kept is None else Judgement(kept.verdict, kept.reason)

    def of_other_layout(self) -> VerdictStore:
        """Return a cache without a file for another address layout of the tool.

        Trials have other outputs there, but a verdict on an output holds.
        """
        other = VerdictStore(None, {})
        other._outputs = self._outputs
        return other

    def add(self, digest: str, judgement: Judgement) -> None:
        """Add the judgement of a trial."""
        self._verdicts[digest] = _Kept(judgement.verdict, judgement.reason)
        self.save()

    def get_output(self, digest: str) -> Judgement | None:
        """Return the judgement of an output, or None."""
        kept = self._outputs.get(digest)
        return None if kept is None else Judgement(kept.verdict, kept.reason)

    def add_output(self, digest: str, judgement: Judgement) -> None:
        """Add the judgement of an output; ``add`` writes it to the file."""
        self._outputs[digest] = _Kept(judgement.verdict, judgement.reason)

    def remove_all(self, verdict: Verdict) -> None:
        """Remove all judgements of a verdict, so that these trials run again."""
        kept = self._verdicts.items()
        self._verdicts = {key: one for key, one in kept if one.verdict != verdict}
        self.save()

    def check(self, name: str, value: str) -> None:
        """Add a value to the identity; raises UsageError if the resumed file has another one."""
        if name in self._identity and self._identity[name] != value:
            raise UsageError(
                f"The bisection cannot be resumed: its {name} was {self._identity[name]!r}, and is "
                f"{value!r} now."
            )
        self._identity[name] = value
        self.save()

    def save(self) -> None:
        """Replace the file. A full disk is no error: the search continues without the file."""
        with contextlib.suppress(FileNotWritten):
            self._save()

    def _save(self) -> None:
        if self._file is None:
            return
        kept = _File(_VERSION, self._identity, self._verdicts, self._outputs)
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._file, msgspec.json.format(msgspec.json.encode(kept)))
        except OSError as error:
            raise FileNotWritten(
                f"The state file {str(self._file)!r} cannot be written ({error.strerror}): name "
                "another folder with --output."
            ) from error


def has_verdicts(file: Path) -> bool:
    """Return whether a state file holds verdicts; True if it cannot be read."""
    try:
        return bool(msgspec.json.decode(file.read_bytes(), type=_File).verdicts)
    except (OSError, msgspec.DecodeError):
        return True


def _read(file: Path, identity: dict[str, str]) -> _File:
    try:
        text = file.read_bytes()
        if msgspec.json.decode(text, type=_Versioned).version != _VERSION:
            raise UsageError(
                f"{str(file)!r} was written by another version of actiondbg: leave --resume out."
            )
        kept = msgspec.json.decode(text, type=_File)
    except FileNotFoundError:
        raise UsageError(
            f"There is nothing to resume in {str(file.parent)!r}: name the folder with --output, "
            "or leave --resume out."
        ) from None
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(
            f"The state file {str(file)!r} cannot be read ({error}): leave --resume out."
        ) from error
    for name, value in identity.items():
        if kept.what.get(name) != value:
            raise UsageError(
                f"The bisection in {str(file.parent)!r} cannot be resumed: its {name} was "
                f"{kept.what.get(name)!r}, and is {value!r} now."
            )
    for name, value in kept.what.items():
        identity.setdefault(name, value)
    return kept
