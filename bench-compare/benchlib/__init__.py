"""The parts of bench-compare/run."""
