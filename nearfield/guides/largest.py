"""Eigenvectors of a large sparse matrix with the largest eigenvalues, none left out, by shifts that come down to them.

Waves of an open line lie above a dense spectrum, that of the box about its plane. From a shift far above, Krylov's
space has the guided ones in a few steps and tells where the next wave begins, but never parts what lies dense: so
what has converged is put aside (locked), and the next shift stands a part of the way above the first wave that has
not. Each round starts anew at random, orthogonal to what is locked, so it holds another one of waves with one
eigenvalue, and the last round, which adds nothing, says that there is no more: after j steps from a random vector of
n the largest Ritz value of (shift - T)^-1 is short of the true one by 0.1 (ln(n j^2)/(j - 1))^2 of it, whatever the
gaps. Source: Kuczynski and Wozniakowski, SIAM J. Matrix Anal. Appl. 13 (1992), of symmetric matrices.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nearfield.entry.errors import ModelError

SMALL = 120  # unknowns, of which all eigenvectors are found
STEPS = 40  # of a round; for 1e6 unknowns a Ritz value is short by 2 %
UNSURE = 0.1  # part of its distance from the shift by which a wave that has not converged may lie higher
NEARER = 0.15  # next distance of the shift from that wave over the last one
CONVERGED = 1e-12  # residual of (shift - T)^-1 over the Ritz value
EXHAUSTED = 1e-14  # part of a vector that is new in Krylov's space, below which it is rounding and the space complete
CLOSE = 1e-7  # least distance of a shift from a wave, relative: further on rounding is all that is seen
MOST_ROUNDS = 50  # beyond two for each wave

Solve = Callable[[np.ndarray], np.ndarray]


def largest_space(matrix, bound: float, count: int, scale: float, rounding: float, who: str) -> np.ndarray:
    """Orthogonal real columns that span the eigenvectors with the `count` largest real parts (fewer if there are no
    more), all that share the last one's, and perhaps others.

    bound: above every real eigenvalue. scale: a size of eigenvalues, whose part `CLOSE` is small; rounding: an error
    that they have. Error: they do not converge.
    """
    size = matrix.shape[0]
    if size <= max(SMALL, 3 * count):
        values, vectors = np.linalg.eig(matrix.toarray())
        last = np.sort(values.real)[-min(count, size)]
        return spanned(vectors[:, values.real >= last - max(CLOSE * (abs(last) + scale), rounding)])
    random = np.random.default_rng(1)
    locked, found, shift, solve = np.empty((size, 0)), np.empty(0, complex), bound, None
    rounds = MOST_ROUNDS + 2 * count
    for _ in range(rounds):
        solve = solve or shifted(matrix, shift)
        values, vectors, missed = ritz(solve, locked, random.uniform(-1.0, 1.0, size), shift)
        good = int(np.argmax(np.append(missed > CONVERGED, True)))
        unsure = max(CLOSE * (abs(values[0]) + scale), rounding)
        if _last(found, count) > values[0].real + max(unsure, 0.0 if good else UNSURE * abs(shift - values[0])):
            return locked
        if good:
            locked = spanned(np.concatenate((locked, vectors[:, :good]), axis=1))
            found = np.append(found, values[:good])
        rest = values[min(good, values.size - 1)]
        if _last(found, count) <= rest.real + max(unsure, UNSURE * abs(shift - rest)):
            shift, solve = rest.real + max(NEARER * abs(shift - rest), CLOSE * (abs(rest) + scale), rounding), None
    raise ModelError(
        f"{who}: {found.size} of the {count} modes with the largest wave numbers were found in {rounds} rounds; the "
        "others lie too dense to be told apart. Ask for a lower number"
    )


def _last(found: np.ndarray, count: int) -> float:
    """The count-th largest real part, below all if there are fewer."""
    return float(np.sort(found.real)[-count]) if found.size >= count else -np.inf


def shifted(matrix, shift: float) -> Solve:
    """The inverse of matrix - shift; COLAMD has a fifth of the fill of MMD_AT_PLUS_A at 2400 edges about metal."""
    from scipy.sparse import identity
    from scipy.sparse.linalg import splu

    return splu((matrix - shift * identity(matrix.shape[0])).tocsc(), "COLAMD").solve


def ritz(
    solve: Solve, locked: np.ndarray, start: np.ndarray, shift: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(eigenvalues, vectors, relative residuals) from Krylov's space orthogonal to the locked columns, the nearest to
    the shift first."""
    steps = min(STEPS, start.size - locked.shape[1])
    basis, reduced = np.empty((start.size, steps + 1)), np.zeros((steps + 1, steps))
    basis[:, 0] = _orthogonal(start, locked, basis[:, :0])[0]
    basis[:, 0] /= np.linalg.norm(basis[:, 0])
    for step in range(steps):
        rest, reduced[: step + 1, step] = _orthogonal(solve(basis[:, step]), locked, basis[:, : step + 1])
        reduced[step + 1, step] = np.linalg.norm(rest)
        if reduced[step + 1, step] < EXHAUSTED * np.abs(reduced[: step + 1, step]).max():
            steps = step + 1
            break
        basis[:, step + 1] = rest / reduced[step + 1, step]
    values, vectors = np.linalg.eig(reduced[:steps, :steps])
    order = np.argsort(-np.abs(values))
    values, vectors = values[order], vectors[:, order]
    missed = reduced[steps, steps - 1] * np.abs(vectors[-1]) / np.abs(values)
    return shift + 1 / values, basis[:, :steps] @ vectors, missed


def _orthogonal(vector: np.ndarray, locked: np.ndarray, basis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What of a vector is orthogonal to both, and its parts along the basis."""
    parts = np.zeros(basis.shape[1])
    for _ in range(2):  # once leaves rounding that grows
        vector = vector - locked @ (locked.T @ vector)
        more = basis.T @ vector
        vector, parts = vector - basis @ more, parts + more
    return vector, parts


def spanned(vectors: np.ndarray) -> np.ndarray:
    """Orthogonal real columns for the space of complex ones and their conjugates."""
    both = np.concatenate((vectors.real, vectors.imag), axis=1)
    both = both[:, np.linalg.norm(both, axis=0) > 1e-6]
    columns, sizes, _ = np.linalg.svd(both / np.linalg.norm(both, axis=0), full_matrices=False)
    return columns[:, sizes > 1e-6 * sizes[0]]
