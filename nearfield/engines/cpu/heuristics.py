"""Tuned constants of the CPU engine, each with its unit, and the machine and command that it comes from.

Times and rates are of one core in single precision: a Xeon (Sapphire Rapids) with AVX-512, from boxes that stay in L1,
in L2 and in L3 (benchmarks/residence.py) and from cubes of 8 to 64 cells a side on one and two threads. Trials
(`nearfield tune`, tuning.py) correct the model where it is wrong.
"""

# Tiles
LEAST_DEPTH = 4  # steps of a tile; with fewer it gains little over the stepwise schedule
DEPTHS = (4, 5, 6, 8, 10, 12, 16, 20, 24)  # steps that are weighed
WIDTHS = (4, 6, 8, 12, 16, 20, 24, 32, 48, 64)  # rows
SHARE_OF_CACHE = 0.55  # share of L2 for the tile; coefficients, psi of slabs and the prefetched plane take the rest
MOST = 10**6  # steps, rows or blocks that a user may give

# Cost of a step
ARITHMETIC = {"avx512": 0.51e-9, "avx2": 0.7e-9, "baseline": 1.3e-9}  # s for a cell
ROW = 20e-9  # s for E and H of one row, before the first cell
VISIT = 3e-9  # s for a row's turn in a tile that leans out of the domain
WAIT = 0.3e-6  # s until a neighbour's progress is noticed
LIVE_ROWS = 4  # records in use while E and H of one row are made
L2_RATE = 200e9  # bytes/s
HANDED_RATE = 80e9  # bytes/s of rows in the L2 of another core
L3_RATE = 30e9  # bytes/s
SHOWN = 0.4  # part of the time of prefetching that arithmetic does not hide
SPILLING = (
    1.5  # power of a tile's excess over its share of L2, relative to that share: the part of its rows that is lost
)
EDGE = 2.0  # cost of a row at a band's edge over one within it: it comes late, and from another core
RESIDENT = 0.75  # share of L2: a domain that fills more of it does not stay there
MEMORY_RATE = 13e9  # bytes/s of a triad on one core, where none was measured
MOST_MEMORY_RATE = 100e9  # bytes/s of all cores together
TRIAD_COUNTS = 3 / 4  # share of the bytes that a triad moves: the line fetched for the write is left out
AS_GOOD = 0.97  # share of the best predicted rate: the fewest threads that reach it are taken

# Dispersive media, in units of a plain vacuum cell: a cube of 128 cells full of media of 1 to 6 Debye poles against the
# same cube without (same Xeon, AVX-512, one core, single precision, on a busy machine: rough).
DISPERSIVE = 0.7  # for a cell with poles
REMEMBERED = 0.2  # for each number that the cell keeps
LOOKED_AT = 32  # cells along each axis of a box whose media are counted

# Trials of tiles
ROUNDS = 3  # turns of each candidate
TURN_SECONDS = 0.2  # seconds of a candidate in a round
SHARES = (0.2, 0.35, 0.85)  # shares of L2, tried beside the model's, whose weakest point this is
NOISE = 0.03  # relative, between rates of a trial
SEGMENT = 12  # blocks of 16 cells, tried on rows that hold two
ASPECT = 1.5  # deeper and narrower, shallower and wider
LONG_RUN = 60.0  # s; a run expected to take longer makes a trial
WARM_UP = 1.0  # s of a run before its rate is judged
SHARE_OF_RUN = 0.1  # largest share of a run for its trial: with candidates within 20 % of each other it costs 2 %
SMALL = 32**3  # cells a thread; with fewer, fewer threads may be faster
