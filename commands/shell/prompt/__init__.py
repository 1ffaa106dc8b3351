"""The prompt: lines that are typed, and what ends it."""
