"""The results of a sweep: one row a dispatch, as CSV, Markdown, HTML and Parquet, and compared.

May import: actiondbg.kernels.model, actiondbg.support.
"""
