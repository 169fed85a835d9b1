"""Edits of a state, worked out on inert values: nothing of the user's runs here.

`plan` turns what was asked for into new values of whole channels, `change` puts one into another,
`yamlform` is the text for an editor, `toolcalls` what an edit may break. Whether a value fits its
channel is for the host to say, which has the graph.
"""
