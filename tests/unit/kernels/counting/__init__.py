"""Tests of counted calls."""
