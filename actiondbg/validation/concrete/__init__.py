"""Scalars that are numbers, with poison.

Imports the plain objects of ``validation``.
"""
