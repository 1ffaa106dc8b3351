"""The stored results of a dispatch: ``compiled.json`` and ``verified.json`` beside the binaries."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import msgspec

from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.generated.layout import CONFIGURED
from actiondbg.kernels.generated.plain_data import from_json, to_json
from actiondbg.kernels.model import Dispatch
from actiondbg.kernels.providers.provider import CompiledKernel
from actiondbg.kernels.results.entry import Verification
from actiondbg.support.atomic_write import write_whole
from actiondbg.version import VERSION

_T = TypeVar("_T")
_COMPILED, _VERIFIED = "compiled.json", "verified.json"


@dataclass(frozen=True)
class StoredKernel:
    """The content of ``compiled.json``.

    Attributes:
        key: a digest of everything that decides the binaries.
        kernel: the compiled kernel, whose paths are relative to the folder in the file.
        checksums: digests of the verified and of the measured binary, in this order.
    """

    key: str
    kernel: CompiledKernel
    checksums: tuple[str, str]


@dataclass(frozen=True)
class _Verified:
    key: str
    verification: Verification


def compilation_key(dispatch: Dispatch, folder: Path, identity: str) -> str:
    """Return a digest of what decides the binaries: source, configuration, compiler.

    Raises:
        OSError: ``configured.mlir`` cannot be read.
    """
    digest = hashlib.sha256((folder / CONFIGURED).read_bytes())
    digest.update(VERSION.encode())  # of the commands that providers run
    digest.update(to_json(dispatch.configuration))
    digest.update(identity.encode())
    return digest.hexdigest()


class CompiledState:
    """The stored results of a dispatch, valid for one key.

    Args:
        key: of what is compiled now; results of another key are out of date.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self._folder = folder
        self._key = key

    def kernel(self) -> CompiledKernel | None:
        """Return the compiled kernel; None if it is out of date, or a binary missing or changed."""
        stored = stored_kernel(self._folder, self._key)
        return None if stored is None else stored.kernel

    def store_kernel(self, kernel: CompiledKernel) -> None:
        """Store a compiled kernel; its binaries are complete."""
        relative = with_paths(kernel, self._relative)
        stored = StoredKernel(self._key, relative, _checksums(kernel))
        write_whole(self._folder / _COMPILED, to_json(stored))

    def drop(self) -> None:
        """Forget what is stored: the binaries are about to be replaced."""
        for name in (_VERIFIED, _COMPILED):
            (self._folder / name).unlink(missing_ok=True)

    def verification(self, references: str) -> Verification | None:
        """Return the stored verification of these binaries, or None.

        Args:
            references: a digest of what the results are compared with.
        """
        stored = _read(self._folder / _VERIFIED, _Verified)
        if stored is None or stored.key != self._verification_key(references):
            return None
        return stored.verification

    def store_verification(self, references: str, verification: Verification) -> None:
        """Store the verification of these binaries; see ``verification``."""
        key = self._verification_key(references)
        write_whole(self._folder / _VERIFIED, to_json(_Verified(key, verification)))

    def _verification_key(self, references: str) -> str:
        """Return a digest of what decides a verdict: all that is compiled, and the references."""
        digest = hashlib.sha256((self._folder / _COMPILED).read_bytes())
        digest.update(references.encode())
        return digest.hexdigest()

    def _relative(self, path: Path) -> Path:
        inside = path.is_relative_to(self._folder)
        return path.relative_to(self._folder) if inside else path


def _read(path: Path, kind: type[_T]) -> _T | None:
    """Return stored data; None if it is missing or damaged: it is then made again."""
    try:
        return from_json(path.read_bytes(), kind)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def stored_kernel(folder: Path, key: str | None = None) -> StoredKernel | None:
    """Return the kernel in a folder; None if a binary is missing or changed.

    Args:
        key: of what is compiled now, so that the kernel of another key is None; None for any key.
    """
    stored = _read(folder / _COMPILED, StoredKernel)
    if stored is None or key not in (None, stored.key):
        return None
    kernel = with_paths(stored.kernel, lambda path: folder / path)
    try:
        is_whole = stored.checksums == _checksums(kernel)
    except FileNotFoundError:
        return None
    return replace(stored, kernel=kernel) if is_whole else None


def _checksums(kernel: CompiledKernel) -> tuple[str, str]:
    """Return digests of the binaries.

    Raises:
        FileNotFoundError: a binary is missing.
    """
    verify, profile = (
        hashlib.sha256(each.path.read_bytes()).hexdigest()
        for each in (kernel.verify, kernel.profile)
    )
    return verify, profile


def with_paths(kernel: CompiledKernel, change: Callable[[Path], Path]) -> CompiledKernel:
    """Return a kernel whose binaries have changed paths."""

    def changed(binary: KernelBinary) -> KernelBinary:
        return replace(binary, path=change(binary.path))

    return replace(kernel, verify=changed(kernel.verify), profile=changed(kernel.profile))
