"""The lineage between dumps that were made elsewhere, by their source locations.

May import: actiondbg.lineage.stage, .lineage, .evidence, .locations and .text.
"""
