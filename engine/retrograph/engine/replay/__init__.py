"""Replay: a graph runs on from a checkpoint, in a sandbox.

`recordings` is what nodes gave on the original line, `policies` what each is to do, `plan` says
both before anything runs, `driving` runs it, `results` is what came of it.
"""
