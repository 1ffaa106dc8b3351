"""A lineage made by hand."""
