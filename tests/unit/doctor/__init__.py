"""Tests of the doctor, without real tools."""
