"""Tests of catches and watches."""
