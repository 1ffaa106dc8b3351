"""The provider ``c``: a loop nest compiled by a C compiler, the baseline of other providers.

May import: actiondbg.kernels.model, programs, execution and the providers' common parts.
"""
