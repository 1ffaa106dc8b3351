"""Tests of what all layers share."""
