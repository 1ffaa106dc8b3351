"""Tests that type into a real terminal."""
