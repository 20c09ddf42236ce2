"""Modes of a guide of any cross-section that one medium fills, counted by their cut-offs.

TEM modes come first, one fewer than there are conductors: eigenvectors of the matrix of capacitances per length between
them, the smallest one first. TE and TM modes are the eigenvectors of modes.py, from ARPACK about zero.
Of modes with one cut-off those of the TE family come first; within a family they are turned such that the one whose E
has most along the first of x, y, z across the guide leads. E of every mode points to larger coordinates at the first
place where it has at least half its largest value: along the first axis before the other, and there from the smallest
coordinates on, of the second axis before the first.
"""

from __future__ import annotations

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.guides.modes import Mode, differences, flat_edges, mode_on
from nearfield.guides.section import Section, linked

ALIKE = 1e-8  # relative: cut-offs that are one
SPARE = 6  # modes found beyond those asked for
SMALL = 120  # unknowns, of which all eigenvectors are found


def counted_mode(section: Section, number: int, who: str) -> Mode:
    """The mode of that number, from 1. Error: the grid has fewer."""
    found = [("TEM", 0.0, electric) for electric in static_fields(section)]
    for family in ("TE", "TM"):
        found += [(family, cutoff, electric) for cutoff, electric in lowest(section, family, number + SPARE)]
    if len(found) < number:
        raise ModelError(
            f"{who}: the grid has {len(found)} modes in this guide, and number {number} was asked for; take smaller "
            "cells or a lower number"
        )
    order = np.argsort([cutoff for _, cutoff, _ in found], kind="stable")
    family, cutoff, electric = [found[n] for n in by_family(found, order)][number - 1]
    mode = mode_on(section, family, cutoff, electric)
    sign, (along_u, along_v) = pointed(section, mode.electric), mode.electric
    return Mode(family, cutoff, section, (sign * along_u, sign * along_v))


def by_family(found: list, order: np.ndarray) -> list[int]:
    """The order with the families one after another among equal cut-offs."""
    groups = clusters(np.array([found[n][1] for n in order]))
    return [int(n) for group in groups for n in sorted(order[group])]


def clusters(values: np.ndarray) -> list[np.ndarray]:
    """Numbers of the entries of a sorted list that are alike, group by group."""
    gaps = np.flatnonzero(np.abs(np.diff(values)) > ALIKE * np.abs(values[1:]))
    return np.split(np.arange(values.size), gaps + 1)


def lowest(section: Section, family: str, count: int) -> list[tuple[float, np.ndarray]]:
    """(cut-off, E on all edges) of the first modes of a family."""
    from scipy.sparse import diags

    te = family == "TE"
    area, _, free = flat_edges(section)
    operator, mass = differences(section, te)
    alive = np.flatnonzero((section.cells if te else section.live_n).ravel())
    if not alive.size:
        return []
    scaled, weight = operator[:, alive] @ diags(mass[alive] ** -0.5), area * free if te else area / free
    squares, vectors = smallest((scaled.T @ diags(weight) @ scaled).tocsc(), count + te)
    squares, fields = squares[int(te) :], (scaled @ vectors)[:, int(te) :]  # a constant potential is no TE mode
    fields = np.concatenate([polarised(section, fields[:, group], weight) for group in clusters(squares)], axis=1)
    return [(float(np.sqrt(square)), field) for square, field in zip(squares, fields.T)][: max(0, count)]


def smallest(matrix, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The smallest eigenvalues of a symmetric positive semidefinite matrix, in order, and their vectors."""
    from scipy.sparse.linalg import eigsh

    size = matrix.shape[0]
    if size <= max(SMALL, 3 * count):
        squares, vectors = np.linalg.eigh(matrix.toarray())
        return squares[:count], vectors[:, :count]
    shift = -0.1 * matrix.diagonal().mean() / size  # a small part of the lowest
    start = np.random.default_rng(1).uniform(-1.0, 1.0, size)
    squares, vectors = eigsh(matrix, count, sigma=shift, v0=start)
    order = np.argsort(squares)
    return squares[order], vectors[:, order]


def polarised(section: Section, fields: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Fields on all edges that span the same space, orthogonal, that with most E along the first axis leading."""
    if fields.shape[1] == 1:
        return fields
    overlap = fields.T @ (weight[:, None] * fields)
    return fields @ leading(fields.T @ ((weight * along_first(section))[:, None] * fields), overlap)


def leading(matrix: np.ndarray, overlap: np.ndarray) -> np.ndarray:
    """Eigenvectors of a pencil of symmetric matrices, the largest eigenvalue first; the second one definite."""
    from scipy.linalg import eigh

    return eigh(matrix, overlap * np.sign(overlap[0, 0]))[1][:, ::-1]


def along_first(section: Section) -> np.ndarray:
    """1 on edges along the first of x, y, z across the guide, -1 on the others."""
    u, v = section.place.across
    sign = 1.0 if u < v else -1.0
    return np.concatenate((np.full(section.live_u.size, sign), np.full(section.live_v.size, -sign)))


def pointed(section: Section, electric: tuple[np.ndarray, np.ndarray]) -> float:
    """1 where a field points as this module's modes do, else -1."""
    u, v = section.place.across
    parts = [part.ravel(order="F" if u < v else "C") for part in (electric if u < v else electric[::-1])]
    values = np.concatenate(parts)
    first = np.argmax(np.abs(values) >= 0.5 * np.abs(values).max())
    return float(np.sign(values[first]))


def static_fields(section: Section) -> list[np.ndarray]:
    """E on all edges of the TEM modes."""
    from scipy.sparse import diags
    from scipy.sparse.linalg import splu

    label, count = conductors(section)
    if count < 2:
        return []
    area, _, free = flat_edges(section)
    operator, _ = differences(section, te=False)
    stiffness = (operator.T @ diags(area / free) @ operator).tocsc()
    alive, held = section.live_n.ravel(), np.stack([(label == n).astype(float) for n in range(1, count)], axis=1)
    if alive.any():
        held[alive] = splu(stiffness[alive][:, alive]).solve(-(stiffness @ held)[alive])
    _, voltages = np.linalg.eigh(held.T @ (stiffness @ held))
    return list((operator @ held @ voltages).T)


def conductors(section: Section) -> tuple[np.ndarray, int]:
    """Numbers of the conductors that nodes lie on, 0 that around the guide and -1 none, and how many there are."""
    dead = ~section.live_n
    joined = linked(~section.live_u & dead[1:] & dead[:-1], ~section.live_v & dead[:, 1:] & dead[:, :-1])
    label, found = joined.ravel(), np.unique(joined[dead])
    rim = np.ones(section.live_n.shape, bool)
    rim[1:-1, 1:-1] = False
    outer = label[rim.ravel()][0]
    order = [outer, *(n for n in found if n != outer)]
    numbers = np.full(label.size, -1)
    for place, each in enumerate(order):
        numbers[(label == each) & dead.ravel()] = place
    return numbers, len(order)
