"""How a provider compiles an operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Parameter = int | str | bool | Sequence[int | str]


@dataclass(frozen=True)
class Configuration:
    """Tiling, vector sizes, pipeline and flags, as plain data.

    Attributes:
        provider: the name of the provider that understands the parameters.
        name: unique for an operation, over all providers, and a valid name of a folder, such as
            ``mlir_tile_64x64x512_vector_4x16``.
        parameters: what the provider needs, as plain data; columns of a report.
    """

    provider: str
    name: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict[str, Parameter])
