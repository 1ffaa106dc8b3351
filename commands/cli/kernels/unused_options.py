"""Options that nothing uses: they would be ignored without a word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from actiondbg.commands.cli.kernels.options import (
    ProfileLine,
    ProviderOptions,
)
from actiondbg.commands.interpreter.options import changed_fields
from actiondbg.errors import UsageError

# The fields with the provider that uses them.
_PROVIDERS = {"build_dir": "iree", "device": "iree", "cuda_arch": "iree", "pipeline": "mlir"}
# The fields with what uses them.
_VERIFICATION, _PROFILING, _EITHER = (
    "kernels to be verified",
    "kernels to be measured",
    "kernels to run",
)
_STAGES = {
    "verification_providers": _VERIFICATION,
    "bisect": _VERIFICATION,
    "benchmark_repetitions": _PROFILING,
    "batch_size": _PROFILING,
    "remeasure": _PROFILING,
    "events": _PROFILING,
    "timeout": _EITHER,
    "memory": _EITHER,
}


def check_used(options: ProviderOptions, providers: Sequence[str]) -> None:
    """Raise UsageError, which names what would use it, if an option is given and not used."""
    for field, needed in _unused(options, providers):
        raise UsageError(f"--{field.replace('_', '-')} is not used: it needs {needed}.")


def _unused(options: ProviderOptions, providers: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield fields that are given and not used, with what would use them."""
    given = changed_fields(options, type(options))
    for field, provider in _PROVIDERS.items():
        if field in given and provider not in providers:
            yield field, f"the provider {provider} (--provider {provider})"
    if not isinstance(options, ProfileLine):
        return
    verifies = options.verification_enabled and not options.compile_only
    profiles = options.profiling_enabled and not options.compile_only
    done = {_VERIFICATION: verifies, _PROFILING: profiles, _EITHER: verifies or profiles}
    for field, needed in _STAGES.items():
        if field in given and not done[needed]:
            yield field, needed
