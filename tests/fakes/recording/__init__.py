"""Recordings written in Python, and independent readers of what is made from them."""
