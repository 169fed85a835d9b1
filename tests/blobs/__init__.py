"""Stored values for tests: real ones of every kind, random ones, and hostile ones."""
