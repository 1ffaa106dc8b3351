"""Tests of traces of recordings."""
