"""Tests of bisections of real tools."""
