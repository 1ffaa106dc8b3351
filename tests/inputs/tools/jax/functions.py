# RUN: python %s layer
# RUN: python %s slope
# RUN: python %s running
"""Three functions of JAX, compiled for this CPU: ``python functions.py NAME...``.

Prints the program that XLA made of each; with ``XLA_FLAGS=--xla_dump_to=FOLDER``, XLA writes what
it made in between.
"""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp


def layer(x, weights, bias):
    """A dense layer with a softmax."""
    return jax.nn.softmax(jnp.dot(x, weights) + bias)


def slope(x):
    """The derivative of a sum of products."""
    return jax.grad(lambda value: jnp.sum(jnp.tanh(value) * value))(x)


def running(x):
    """A loop: the running maximum of rows."""
    return jax.lax.scan(lambda most, row: (jnp.maximum(most, row), jnp.sum(most)), x[0], x)


ARGUMENTS = {
    "layer": (layer, [(16, 32), (32, 8), (8,)]),
    "slope": (slope, [(64,)]),
    "running": (running, [(10, 4)]),
}


def compile_function(name):
    """Compile a function for arguments of 32-bit floats."""
    function, shapes = ARGUMENTS[name]
    operands = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
    return jax.jit(function).lower(*operands).compile()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(compile_function(name).as_text())
