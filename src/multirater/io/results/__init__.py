"""The one place that knows result folders: fusions, runs and predictions.

`layout` says what lies where, `contents` reads and writes the tables and statements, `class_tables`
writes answers of one class per case, `origin` notes where results came from.
"""
