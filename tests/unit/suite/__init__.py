"""Tests of suites without a tool."""
