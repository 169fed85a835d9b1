"""Benchmarks: ours against a baseline, in the same run. `python -m tests.bench [NAME…]`."""
