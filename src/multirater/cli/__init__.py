"""The command line: parse, call the public function of the same name, print."""

from multirater.cli.app import main

__all__ = ["main"]
