"""Closed surfaces: inside by exact crossings, and how far the surface is."""

from __future__ import annotations

import numpy as np
import pytest
from solids_made import CUBE, CUBE_TRIANGLES, SEED, icosphere, nested, winding_number

import nearfield as nf
from nearfield.bodies.closed_surface import ClosedSurface


@pytest.mark.parametrize("made", [lambda: icosphere(2), nested, lambda: (CUBE, CUBE_TRIANGLES)])
def test_random_points_are_inside_where_the_solid_angle_says_so(made):
    corners, triangles = made()
    lower, upper = corners.min(axis=0) - 0.1, corners.max(axis=0) + 0.1
    points = np.random.default_rng(SEED).uniform(lower, upper, (4000, 3))
    winding = winding_number(corners, triangles, points)
    assert np.abs(winding - np.round(winding)).max() < 1e-9
    surface = ClosedSurface(corners, triangles)
    assert np.array_equal(surface.inside(*points.T), np.round(winding) != 0)
    assert np.array_equal(surface.distance(*points.T) < 0, np.round(winding) != 0)


def test_rays_along_all_axes_agree_at_corners_on_edges_and_on_faces():
    """Every point of these lattices lies on grid lines through corners and edges of the surface."""
    corners, triangles = nested()
    corners = np.round(corners * 8) / 8
    surface = ClosedSurface(corners, triangles)
    places = np.arange(-16, 17) / 8
    answers = []
    for longest in range(3):  # the longest list is the direction of the rays
        at = [np.concatenate((places, np.full(5 * (axis == longest), 1.9))) for axis in range(3)]
        x, y, z = (q.reshape([-1 if a == axis else 1 for a in range(3)]) for axis, q in enumerate(at))
        answers.append(surface.inside(x, y, z)[:33, :33, :33])
    assert np.array_equal(answers[0], answers[1]) and np.array_equal(answers[0], answers[2])
    x, y, z = np.broadcast_arrays(places[:, None, None], places[:, None], places)
    assert np.array_equal(surface.inside(x, y, z), answers[0])  # point by point
    assert np.array_equal(surface.inside(x, y, z), surface.inside(x.T, y.T, z.T).T)


def test_two_bodies_that_share_a_face_leave_no_point_out_and_share_none():
    left, right = ClosedSurface(CUBE, CUBE_TRIANGLES), ClosedSurface(np.add(CUBE, (1, 0, 0)), CUBE_TRIANGLES)
    places = np.linspace(0.0625, 0.9375, 15)
    assert np.array_equal(left.inside(1.0, places[:, None], places), ~right.inside(1.0, places[:, None], places))


def test_the_distance_is_that_of_the_nearest_facet_near_the_surface_and_never_more():
    corners, triangles = icosphere(2)
    surface, sphere = ClosedSurface(corners, triangles), nf.Sphere((0, 0, 0), 1.0)
    points = np.random.default_rng(SEED).uniform(-1.5, 1.5, (3, 20_000))
    found, true = np.abs(surface.distance(*points)), np.abs(sphere._signed_distance(*points))
    sag = 1.0 - np.linalg.norm(corners[triangles].mean(axis=1), axis=1).min()  # of the facets under the sphere
    assert (found <= true + sag).all()
    near = true < 0.02
    assert np.abs(found - true)[near].max() <= sag
    again = [surface.distance(*points[:, n : n + 1])[0] for n in range(50)]
    assert np.array_equal(again, surface.distance(*points)[:50])  # of the point alone
