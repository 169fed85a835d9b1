"""The branching tree as a picture: rows, lanes, words, folding."""
