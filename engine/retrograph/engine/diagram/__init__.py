"""Diagrams of directed graphs in cells of text: layers from top to bottom, wires between them."""
