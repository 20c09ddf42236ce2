"""What each command of the command line does; `nearfield/cli.py` only reads the arguments."""
