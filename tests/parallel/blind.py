"""Run under mpiexec: the command line, where no rank but the first can find a guide's modes.

The others cannot import SciPy's sparse matrices; `scipy.optimize`, which conductors need, has those it wants.
"""

import sys

import scipy.optimize  # noqa: F401

from nearfield.cli import main
from nearfield.parallel.transport import world

if __name__ == "__main__":
    if world().rank:
        sys.modules["scipy.sparse"] = None
    sys.exit(main())
