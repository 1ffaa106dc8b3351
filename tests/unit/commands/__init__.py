"""Tests of the commands over the fake session."""
