"""What was due at a checkpoint, what ran and where it went, told from stored data alone."""
