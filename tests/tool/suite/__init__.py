"""Tests of suites, with real tools and real drivers."""
