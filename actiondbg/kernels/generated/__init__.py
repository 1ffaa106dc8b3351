"""The folder of generated kernels: layout, manifest, locks and stored results.

May import: actiondbg.kernels.model, operations, execution, providers and results.
"""
