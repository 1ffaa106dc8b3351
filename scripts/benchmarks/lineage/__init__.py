"""How right and how fast lineages are; see scripts/bench-lineage."""
