"""Run under mpiexec: `nearfield run` with the options of each argument in turn, to the first that fails.

No rank but the first can find a guide's modes: the others cannot import SciPy's sparse solvers; what else of SciPy is
needed has those it wants.
"""

import shlex
import sys

import scipy.optimize
import scipy.sparse.csgraph  # noqa: F401

from nearfield.cli import main
from nearfield.machine.transport import world

if __name__ == "__main__":
    if world().rank:
        sys.modules["scipy.sparse.linalg"] = None
    for options in sys.argv[1:]:
        if code := main(["run", "--no-report", *shlex.split(options)]):
            sys.exit(code)
