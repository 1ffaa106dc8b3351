"""The lineage between dumps that were made elsewhere, by their source locations.

May import: actiondbg.lineage.stage, .lineage, .graph and .locations.
"""
