"""Tests of finding a tool and building its agent."""
