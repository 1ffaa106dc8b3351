"""Tests of statistics over recordings."""
