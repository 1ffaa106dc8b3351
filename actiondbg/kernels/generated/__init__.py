"""The folder of generated kernels: layout, manifest, and what is up to date.

May import: actiondbg.kernels.model, operations and providers.
"""
