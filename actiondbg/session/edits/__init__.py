"""Edits of the IR at a stop: applied on a branch of the timeline, saved and loaded.

Imports the session's modules below it, process and ir.
"""
