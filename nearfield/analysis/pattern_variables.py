"""The pattern of a recorded surface as variables, the angles that there are, and what surfaces say of each other."""

from __future__ import annotations

import json
from dataclasses import astuple

import numpy as np

from nearfield.analysis.cross_sections import DIMS
from nearfield.analysis.farfield import (
    Exterior,
    Wall,
    allowed_directions,
    far_fields,
    sphere_power,
    unit_vectors,
    waves_of,
)
from nearfield.analysis.surface import Surface, read_surface
from nearfield.entry.errors import ModelError
from nearfield.grid.yee import AXES
from nearfield.records.records import Variable, Variables

COMPARED = (
    np.radians(np.arange(15.0, 180.0, 30.0)),
    np.radians(np.arange(10.0, 360.0, 45.0)),
)  # directions of two surfaces


def pattern_variables(
    surface: Surface,
    exterior: Exterior,
    frequencies: np.ndarray,
    theta: np.ndarray,
    phi: np.ndarray,
    scale: np.ndarray,
) -> Variables:
    """E_theta and E_phi on a grid of angles; directions behind a wall are refused."""
    refuse_behind(exterior.walls, theta, phi)
    theta_pairs, phi_pairs = (angle.ravel() for angle in np.meshgrid(theta, phi, indexing="ij"))
    e_theta, e_phi = far_fields(surface, exterior, frequencies, theta_pairs, phi_pairs)
    shape, scale = (frequencies.size, theta.size, phi.size), scale[:, None, None]
    notes = {"units": "V s", "phase_centre": "origin of coordinates", "factor": "times r exp(+j k r)"}
    return {
        "e_theta": Variable(DIMS, scale * e_theta.reshape(shape), notes),
        "e_phi": Variable(DIMS, scale * e_phi.reshape(shape), notes),
        "theta": Variable(("theta",), theta, {"units": "rad"}),
        "phi": Variable(("phi",), phi, {"units": "rad"}),
    }


def surface_pattern(variables: Variables) -> Variables:
    """The pattern at the angles `theta` and `phi`, and the radiated power, from a recorded surface."""
    exterior = read_exterior(variables)
    surface = read_surface(variables, exterior.places)
    frequencies = variables["frequency"].array
    power, free = sphere_power(surface, exterior, frequencies)
    scale = np.sqrt(np.divide(power, free, out=np.ones_like(power), where=free > 0))
    theta, phi = variables["theta"].array, variables["phi"].array
    return pattern_variables(surface, exterior, frequencies, theta, phi, scale) | {
        "radiated_power": Variable(("frequency",), power, {"units": "W s^2"}),
        "amplitude_scale": Variable(("frequency",), scale, {"units": "1"}),
        "grid_lag": Variable(("frequency",), grid_lag(surface, exterior, frequencies), {"units": "rad"}),
    }


def refuse_behind(walls: tuple[Wall, ...], theta: np.ndarray, phi: np.ndarray) -> None:
    """Raise `ModelError` for angles into the half space behind an infinite wall, where there is no field."""
    theta, phi = (angle.ravel() for angle in np.meshgrid(theta, phi, indexing="ij"))
    behind = ~allowed_directions(theta, phi, walls)
    if not behind.any():
        return
    first = int(np.argmax(behind))
    radial = unit_vectors(theta[first], phi[first])[0]
    wall = next(wall for wall in walls if wall.side * radial[wall.axis] < 0)
    half = f"{AXES[wall.axis]} {'above' if wall.side > 0 else 'below'} {wall.position:.6g} m"
    raise ModelError(
        f"theta = {np.degrees(theta[first]):.6g}, phi = {np.degrees(phi[first]):.6g} degrees points behind the "
        f"infinite {wall.kind.upper()} wall, where there is no field; allowed: directions with {half}. Leave theta and "
        "phi out to get those"
    )


def default_angles(walls: tuple[Wall, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Every 2 degrees of theta and 5 degrees of phi (rad) over the sphere, or the part of it before the walls."""
    theta, phi = np.arange(0, 181, 2), np.arange(0, 360, 5)
    for wall in walls:
        if wall.axis == 2:
            theta = theta[theta <= 90] if wall.side > 0 else theta[theta >= 90]
        else:
            turned = (phi if wall.axis == 0 else phi - 90) + (180 if wall.side < 0 else 0)
            phi = phi[np.cos(np.radians(turned)) >= -1e-9]
    return np.radians(theta), np.radians(phi)


def exterior_text(exterior: Exterior) -> str:
    """The exterior as one attribute of a file."""
    return json.dumps(vars(exterior) | {"walls": [astuple(wall) for wall in exterior.walls]})


def read_exterior(variables: Variables) -> Exterior:
    """The exterior that `exterior_text` wrote."""
    values = json.loads(variables["surface_power"].attributes["exterior"])
    values["walls"] = tuple(Wall(*wall) for wall in values["walls"])
    return Exterior(**values | {"mirrors": tuple(values.get("mirrors", ()))})


def grid_lag(surface: Surface, exterior: Exterior, frequencies: np.ndarray) -> np.ndarray:
    """Largest phase (rad) by which waves along an axis lag in the grid from the phase reference to the surface's ends.

    Far fields are free of it; the antenna itself, a part of this size, is not.
    """
    lags = np.zeros(frequencies.size)
    for wave in waves_of(surface, exterior, frequencies):
        for line in surface.lines:
            on_nodes, _ = line.waves(np.array([wave.grid]), np.array([wave.free]))
            lead = np.angle(on_nodes[:, 0] * np.exp(-1j * wave.free * line.nodes))
            lags[wave.number] = max(lags[wave.number], float(np.abs(np.unwrap(lead))[[0, -1]].max()))
    return lags


def surface_difference(first: Variables, second: Variables) -> float | None:
    """Largest difference of the far fields from two surfaces over the largest field; None without a common frequency.

    From the two surfaces about one antenna it is zero but for what lies between them, and what the run left there.
    """
    one, other = (variables["frequency"].array for variables in (first, second))
    common, at_one, at_other = np.intersect1d(one, other, return_indices=True)
    if not common.size:
        return None
    theta, phi = (angle.ravel() for angle in np.meshgrid(*COMPARED, indexing="ij"))
    allowed = allowed_directions(theta, phi, read_exterior(first).walls)
    fields = []
    for variables, at in ((first, at_one), (second, at_other)):
        exterior = read_exterior(variables)
        surface = read_surface(variables, exterior.places)
        found = far_fields(surface, exterior, variables["frequency"].array, theta[allowed], phi[allowed])
        fields.append(np.stack(found)[:, at])
    largest = np.sqrt((np.abs(fields[0]) ** 2).sum(axis=0).max(axis=1))
    apart = np.sqrt((np.abs(fields[1] - fields[0]) ** 2).sum(axis=0).max(axis=1))
    return float((apart / largest).max()) if largest.min() > 0 else None
