"""The folder of generated kernels: its layout, the manifest, and the stored results of dispatches.

May import: actiondbg.kernels.model, operations, execution, providers and results.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import msgspec

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.model import Configuration, Dispatch, Operation
from actiondbg.kernels.operations.registry import find_kind
from actiondbg.kernels.providers.provider import CONFIGURED, CompiledKernel
from actiondbg.kernels.results.entry import Verification
from actiondbg.support.atomic_write import locked, write_whole
from actiondbg.support.decoders import decoder_of
from actiondbg.version import VERSION

_T = TypeVar("_T")
_DIALECT = "linalg"
_VERSION = 1  # of the manifest
_COMPILED, _VERIFIED = "compiled.json", "verified.json"


class GeneratedFolder:
    """The folder of generated kernels, laid out as that of IREE's dispatch profiler.

    ::

        generated/linalg/manifest.json
        generated/linalg/matmul/matmul_64x64x64_f32t_f32t_f32t/
            matmul_64x64x64_f32t_f32t_f32t.mlir    the operation
            reference/integers_0/, ...             operands and expected result, as .npy
            mlir_tile_.../                         a configuration
                configured.mlir, binaries, compile.log, commands.sh, compiled.json

    Args:
        parent: the folder that has, or gets, the folder ``generated``.
    """

    def __init__(self, parent: Path) -> None:
        self.path = parent / "generated" / _DIALECT

    @property
    def manifest(self) -> Path:
        """The file that lists the dispatches."""
        return self.path / "manifest.json"

    def of_operation(self, operation: Operation) -> Path:
        return self.path / operation.kind / operation.name

    def source(self, operation: Operation) -> Path:
        """Return the file of an operation's MLIR."""
        return self.of_operation(operation) / f"{operation.name}.mlir"

    def of_dispatch(self, dispatch: Dispatch) -> Path:
        return self.of_operation(dispatch.operation) / dispatch.configuration.name

    def configured(self, dispatch: Dispatch) -> Path:
        """Return the file of a dispatch's MLIR, from which it is compiled."""
        return self.of_dispatch(dispatch) / CONFIGURED


def to_json(value: object) -> bytes:
    """Return JSON, indented; a path becomes its text.

    Raises:
        TypeError: a value is not plain data.
    """
    return msgspec.json.format(msgspec.json.encode(value, enc_hook=_path_text), indent=1) + b"\n"


def from_json(text: bytes, kind: type[_T]) -> _T:
    """Return the value of JSON.

    Raises:
        msgspec.DecodeError: the text is not JSON, or does not fit the type.
    """
    return decoder_of(kind, _path).decode(text)


def read_json(path: Path, kind: type[_T]) -> _T | None:
    """Return the value of a file; None if it is missing or damaged: it is then made again."""
    try:
        return from_json(path.read_bytes(), kind)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


@dataclass(frozen=True)
class _Versioned:
    version: int


def check_version(path: Path, content: bytes, known: int, advice: str) -> None:
    """Refuse a file of another version, whose other fields may mean something else.

    Args:
        content: of the file.
        known: the version that is read.
        advice: part of a sentence.

    Raises:
        msgspec.DecodeError: the text is not JSON, or has no version.
        ActiondbgError: the version is another.
    """
    version = from_json(content, _Versioned).version
    if version != known:
        raise ActiondbgError(
            f"{path} has version {version}, this actiondbg reads {known}: {advice}."
        )


def _path_text(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} is not plain data")


def _path(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise TypeError(f"{kind.__name__} is not plain data")


@dataclass(frozen=True)
class _Entry:
    """An operation with its configurations, as stored."""

    kind: str
    operation: msgspec.Raw
    configurations: list[Configuration]


@dataclass(frozen=True)
class _Stored:
    version: int
    entries: list[_Entry]


def read_manifest(path: Path) -> list[Dispatch]:
    """Return the dispatches of a manifest, in the order in which they were generated.

    Raises:
        ActiondbgError: there is no manifest, or it is damaged.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise ActiondbgError(
            f"{path} does not exist: run 'actiondbg kernels generate' with the same "
            "--generated-dir first."
        ) from error
    try:
        check_version(path, content, _VERSION, "remove the folder and generate again")
        stored = from_json(content, _Stored)
        return [dispatch for entry in stored.entries for dispatch in _dispatches(entry)]
    except (msgspec.DecodeError, UsageError) as error:
        raise ActiondbgError(
            f"{path} is damaged ({error}): remove it and generate again."
        ) from error


def add_to_manifest(path: Path, dispatches: Iterable[Dispatch]) -> None:
    """Add dispatches to a manifest; those of the same name are replaced.

    Raises:
        ActiondbgError: the manifest is damaged.
        OSError: it cannot be written.
    """
    with locked(path.parent):
        known = read_manifest(path) if path.exists() else []
        every = {each.name: each for each in known}
        every.update((each.name, each) for each in dispatches)
        write_whole(path, to_json(_Stored(_VERSION, _entries(every.values()))))


def _entries(dispatches: Iterable[Dispatch]) -> list[_Entry]:
    entries: dict[str, _Entry] = {}
    for each in dispatches:
        operation = each.operation
        if operation.name not in entries:
            fields = msgspec.Raw(to_json(operation))
            entries[operation.name] = _Entry(operation.kind, fields, [])
        entries[operation.name].configurations.append(each.configuration)
    return list(entries.values())


def _dispatches(entry: _Entry) -> Iterable[Dispatch]:
    operation = from_json(bytes(entry.operation), find_kind(entry.kind))
    return (Dispatch(operation, configuration) for configuration in entry.configurations)


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
        folder = self._folder
        relative = with_paths(
            kernel,
            lambda path: path.relative_to(folder) if path.is_relative_to(folder) else path,
        )
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
        stored = read_json(self._folder / _VERIFIED, _Verified)
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


def stored_kernel(folder: Path, key: str | None = None) -> StoredKernel | None:
    """Return the kernel in a folder; None if a binary is missing or changed.

    Args:
        key: of what is compiled now, so that the kernel of another key is None; None for any key.
    """
    stored = read_json(folder / _COMPILED, StoredKernel)
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
