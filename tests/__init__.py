"""The tests, by what they need: unit (nothing), tool (real MLIR tools), terminal and browser."""
