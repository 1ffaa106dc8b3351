"""Times of kernels, interleaved, and the machine's peaks.

May import: actiondbg.kernels.model, execution and results.
"""
