"""Problems: predefined sets of operations, a user's from YAML or JSON, and those of a model.

May import: actiondbg.kernels.model, operations and programs.
"""
