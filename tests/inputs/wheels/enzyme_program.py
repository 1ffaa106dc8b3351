"""Compile a function of JAX by Enzyme's pipeline, in a library with an MLIR of its own."""

import jax
import jax.numpy as jnp
from enzyme_ad.jax import enzyme_jax_ir


@enzyme_jax_ir()
def f(a, b):
    return jnp.add(a, b) * a


print(jax.jit(f)(jnp.ones(4), jnp.ones(4)))
