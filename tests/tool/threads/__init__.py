"""Tools whose threads run actions, in several contexts."""
