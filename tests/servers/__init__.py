"""Real servers for the tests, started when they are needed and stopped by their own pid.

One server serves all workers of a session; each test has a database of its own.
"""
