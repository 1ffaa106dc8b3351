"""Questions about a whole program: groups, tables, flows, traceability, lost locations.

May import: everything below, and the interface of a lineage. Numbers come from numpy and pyarrow.
"""
