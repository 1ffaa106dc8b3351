"""Tests of the compilers of kernels."""
