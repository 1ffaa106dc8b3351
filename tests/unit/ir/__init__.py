"""Tests of highlighting and comparing IR."""
