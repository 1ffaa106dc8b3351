"""Tests of recordings of real runs."""
