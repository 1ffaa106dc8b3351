"""Tests of the examples of the documentation."""
