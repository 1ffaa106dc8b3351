"""Tests of counted programs."""
