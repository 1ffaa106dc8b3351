"""Providers for tests."""
