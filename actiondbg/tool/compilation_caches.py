"""Caches of compiled kernels, which a program that is debugged must not share with others.

A kernel that is found in a cache runs no actions, and one of which actions were skipped would be
found there by the next run of the program.
"""

from __future__ import annotations

from collections.abc import Mapping

from actiondbg.support.user_directories import cache_directory

_ALWAYS_COMPILE = "TRITON_ALWAYS_COMPILE"


def bypassing_caches(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that have a program compile anew what it compiles.

    Triton, JAX and torch.compile read them. What Triton writes to its cache all the same goes to
    one of ours, which no run reads kernels from.

    Args:
        environment: the program's, in which a variable that is set is kept: it is not returned.
    """
    wanted = {
        _ALWAYS_COMPILE: "1",
        "JAX_ENABLE_COMPILATION_CACHE": "false",
        "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
    }
    if environment.get(_ALWAYS_COMPILE, "1") == "1":
        wanted["TRITON_CACHE_DIR"] = str(cache_directory() / "triton")
    return {name: value for name, value in wanted.items() if name not in environment}
