"""Kernels: generate, compile, verify, profile, count and bisect single dispatches.

May import: everything below the commands but actiondbg.lineage and actiondbg.whatif. Needs the
extra ``kernels``; the provider ``iree`` needs the extra ``iree``.
"""
