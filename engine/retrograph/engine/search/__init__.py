"""Where a value is, and who set it."""
