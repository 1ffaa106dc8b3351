"""Compile a function for the CPU."""

import jax


@jax.jit
def f(a, b):
    return (a + b) * (a + b)


print(f.lower(1.0, 2.0).as_text())
print(f(1.0, 2.0))
