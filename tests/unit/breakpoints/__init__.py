"""Tests of specs, conditions and outcomes."""
