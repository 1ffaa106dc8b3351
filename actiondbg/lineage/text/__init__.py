"""The text of IR, scanned into stages: any dialect, no parser of MLIR.

May import: errors, support, actiondbg.lineage.stage, actiondbg.lineage.locations.
"""
