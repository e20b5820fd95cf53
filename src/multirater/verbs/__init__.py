"""Verbs that have no folder of their own: a file each, whose function is `multirater.<file>`."""
