"""One image or label in a file: one module per family of formats, found by suffix."""
