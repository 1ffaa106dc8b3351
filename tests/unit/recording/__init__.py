"""Tests of recordings that are written for the test."""
