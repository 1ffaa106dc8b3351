"""Tests of sessions over the fake agent."""
