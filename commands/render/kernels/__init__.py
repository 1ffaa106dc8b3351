"""Results of the commands on kernels as text."""
