"""Tests of the log of a recording."""
