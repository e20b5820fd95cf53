"""`python -m multirater` is the command line."""

from multirater.cli import main

main()
