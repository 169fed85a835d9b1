"""What is told of whole threads: lists, references, and many steps at a time."""
