"""Tests of messages and the client."""
