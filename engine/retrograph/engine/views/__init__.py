"""What may be shown of values and threads, and in which form."""
