"""Bisection of wrong kernels: the action of the compiler that makes each wrong, and their triage.

May import: actiondbg.kernels.model, operations, providers, results, generated and verification;
actiondbg.bisection.
"""
