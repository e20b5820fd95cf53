"""Fuse data sets: labels read, fused by a method of `fuse`, and written as a data set again."""
