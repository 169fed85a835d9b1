"""Sandboxes: local copies to fork and replay in, of what a run needs of a thread and no more.

`closure` says which rows that is, `full` gives all ancestors instead, `make` puts them into a
`file`, and `home` is the folder of these.
"""
