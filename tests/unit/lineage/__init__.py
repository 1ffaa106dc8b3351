"""Tests of lineages."""
