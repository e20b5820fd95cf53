"""The tables of a data set: what there is, its classes, raters and feature vectors."""
