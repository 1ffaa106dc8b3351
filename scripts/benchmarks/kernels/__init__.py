"""Benchmarks of kernels: sweeps, speed, agreement with IREE's benchmark, and counting."""
