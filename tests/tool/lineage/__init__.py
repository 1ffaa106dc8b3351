"""Tests of lineages with real tools."""
