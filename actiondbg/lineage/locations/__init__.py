"""Source locations: their text as a tree, and the sets of ranges that they cover.

May import: errors, support.
"""
