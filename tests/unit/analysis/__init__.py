"""Tests of the analyses of attempts and changes."""
