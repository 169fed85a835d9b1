"""One module a benchmark: its sides, and `rows(quick)`, which measures them."""
