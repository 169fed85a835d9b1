"""What changed between two values, and how that reads."""
