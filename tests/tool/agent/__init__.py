"""Tests of what the agent reports and leaves unchanged."""
