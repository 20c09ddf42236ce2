"""The work of each command; `nearfield/cli.py` only reads the arguments."""
