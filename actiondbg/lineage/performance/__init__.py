"""Run-time profiles joined with a lineage: what each operation of the input costs.

May import: actiondbg.lineage, and what it may import.
"""
