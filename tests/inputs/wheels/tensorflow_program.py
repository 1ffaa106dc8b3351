"""Compile a function by XLA, and convert it for TensorFlow Lite."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf


@tf.function(jit_compile=True)
def f(a, b):
    return (a + b) * (a + b)


print(f(tf.constant(1.0), tf.constant(2.0)))
number = tf.TensorSpec([], tf.float32)
converter = tf.lite.TFLiteConverter.from_concrete_functions(
    [f.get_concrete_function(number, number)]
)
print(len(converter.convert()))
