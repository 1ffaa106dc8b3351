"""Proof by a solver that what an action made of a function refines what it was."""
