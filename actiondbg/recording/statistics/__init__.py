"""What actions cost: time, and the events that the kernel counts."""
