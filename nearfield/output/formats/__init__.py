"""Field files: snapshots written block by block while a run goes on, and read again, in several formats."""
