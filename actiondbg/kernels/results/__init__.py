"""The results of a sweep: a row for each dispatch, as CSV, Markdown, HTML and Parquet; comparisons.

May import: actiondbg.kernels.model, actiondbg.support.
"""
