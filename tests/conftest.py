"""Its place here lets every test import the oracle (`reference`) and the bare plans (`plans`) beside it."""
