"""Tests of bisections without a tool."""
