"""Tests of live sessions."""
