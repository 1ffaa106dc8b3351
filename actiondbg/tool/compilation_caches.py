"""Caches of compiled kernels, which a program that is debugged must not share with others.

A kernel that is found in a cache runs no actions, and one of which actions were skipped would be
found there by the next run of the program.
"""

from __future__ import annotations

from collections.abc import Mapping

from actiondbg.support.user_directories import cache_directory

# What a program compiles is compiled anew.
COMPILING_ANEW = {
    "TRITON_ALWAYS_COMPILE": "1",
    "JAX_ENABLE_COMPILATION_CACHE": "false",
    "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
}
_MANAGER = "TRITON_CACHE_MANAGER"


def bypassing_caches(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that have a program compile anew what it compiles.

    Triton, JAX and torch.compile read them. What Triton writes to its cache all the same goes to
    one of ours, which no run reads kernels from.

    Args:
        environment: the program's. The caches that it names are not used either, because a kernel
            with skipped actions would stay there.
    """
    wanted = {**COMPILING_ANEW, "TRITON_CACHE_DIR": str(cache_directory() / "triton")}
    if _MANAGER in environment:  # such as of a cache on another machine
        wanted[_MANAGER] = "triton.runtime.cache:FileCacheManager"
    return wanted
