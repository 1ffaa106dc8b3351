"""Tests of the validation of transformations without a tool."""
