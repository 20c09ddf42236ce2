"""The engine for cards: the kernels of core/cuda, on a device."""
