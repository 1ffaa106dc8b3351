"""The settings of providers that come from the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ProviderSettings:
    """What a user may choose of a provider.

    Attributes:
        build_dir: an IREE build, whose tools are used instead of the installed package's.
        device: the target backend: "cpu", "cuda" or "rocm".
        arch: the target architecture of a GPU, such as ``sm_80``; "" for the backend's default.
        batch_size: calls in one repetition, for providers that compile it into the kernel.
    """

    build_dir: Path | None = None
    device: str = "cpu"
    arch: str = ""
    batch_size: int | None = None
