"""Coarse drawings in a file: one module per format or tool, put on the pixel grid of an image."""
