"""The engine for CPUs: rows of cells, threads, SIMD, tiles in time."""
