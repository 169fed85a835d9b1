"""Runs of the user's graph at the command line: planned, watched, steered, answered, told."""
