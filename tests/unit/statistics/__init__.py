"""Tests of measured quantities."""
