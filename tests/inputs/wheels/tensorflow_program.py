"""Import a function and run passes on it."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf


@tf.function
def f(a, b):
    return (a + b) * (a + b)


spec = tf.TensorSpec([4], tf.float32)
text = tf.mlir.experimental.convert_function(f.get_concrete_function(spec, spec))
print(tf.mlir.experimental.run_pass_pipeline(text, "builtin.module(cse,canonicalize)"))
