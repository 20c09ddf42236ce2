"""NumPy's linear algebra on one thread: its sums, and so the bits of results, must not depend on how many cores it saw.

BLAS cuts a matrix product among its threads; where the cuts fall decides which of its loops, with or without fused
multiplication, makes an element. A rank that is bound to one core and a process that has all of them would differ.
"""

from __future__ import annotations

from contextlib import AbstractContextManager


def single_threaded() -> AbstractContextManager:
    """BLAS and LAPACK on one thread while this context lasts; what is loaded later is not bound."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1, user_api="blas")
