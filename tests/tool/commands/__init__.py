"""Tests of commands over live sessions."""
