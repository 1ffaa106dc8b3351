"""A program that dies after it has compiled a kernel."""

import ctypes

import kernels

kernels.compile_kernel("add")
ctypes.string_at(0)
