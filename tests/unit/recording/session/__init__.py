"""Tests of sessions over recordings."""
