"""Measured quantities: events of the CPU and the kernel, buckets, correlations, units.

May import: errors.
"""
