"""Fakes and builders that tests share; they may import actiondbg and each other, no tests."""
