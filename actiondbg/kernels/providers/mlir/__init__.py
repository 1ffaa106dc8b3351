"""The provider ``mlir``: mlir-opt, mlir-translate, llc and a C compiler.

May import: actiondbg.kernels.model, execution and providers; actiondbg.tool for the tools.
"""
