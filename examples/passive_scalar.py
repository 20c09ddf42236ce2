"""A passive scalar in decaying turbulence, and its dissipation elements: lengths, differences, the law between them.

    .venv/bin/python -m examples.passive_scalar

Solves the Navier-Stokes equations in a periodic box of side 2 pi by a pseudo-spectral method, with a scalar whose mean
has the gradient 1 along z:

    du/dt = u x curl u - grad p + nu lap u,    div u = 0,    ds/dt = -u . grad s - u_z + kappa lap s

Products in space, derivatives in wave numbers, waves past a third of the grid's left out (the two-thirds rule); steps
of Heun's second order with the viscous factors exact (Canuto, Hussaini, Quarteroni and Zang, Spectral Methods, 2007).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import fft

import nearfield as nf
from examples import figures
from nearfield.pictures import style

PERIOD = 2 * np.pi
SCHMIDT = 1.0  # nu / kappa
COURANT = 0.5
LARGEST_WAVES = (1.0, 3.0)  # wave numbers of the velocity at the beginning
SPEED = 1.0  # root mean square of a component then
FINER = 2  # points of the elements' grid over those of the flow's, along each axis
FIGURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "passive_scalar.png"


@dataclass
class Flow:
    """Spectra of the three velocities, (3, n, n, n/2 + 1), and of the scalar; viscosity; mean gradient along z."""

    velocity: np.ndarray
    scalar: np.ndarray
    viscosity: float
    gradient: float = 1.0

    def __post_init__(self) -> None:
        n = self.points = self.scalar.shape[0]
        real = self.velocity.real.dtype
        full, half = fft.fftfreq(n, 1 / n).astype(real), np.arange(n // 2 + 1, dtype=real)
        self.wave = np.stack(np.meshgrid(full, full, half, indexing="ij"))
        self.square = (self.wave**2).sum(axis=0)
        self.resolved = (np.abs(self.wave) < n / 3).all(axis=0)

    def in_space(self, spectrum: np.ndarray) -> np.ndarray:
        """Values at the points of the grid, of one field or of several."""
        return fft.irfftn(spectrum, (self.points,) * 3, axes=(-3, -2, -1))

    def on_more_points(self, spectrum: np.ndarray) -> np.ndarray:
        """The same waves on a grid FINER times as fine, where the shortest half wave has three points, not 1.5."""
        n, finer = self.points, FINER * self.points
        whole = np.zeros((finer, finer, finer // 2 + 1), spectrum.dtype)
        low, high = slice(0, n // 2), slice(-(n // 2) + 1, None)
        for x in (low, high):
            for y in (low, high):
                whole[x, y, : n // 2] = spectrum[x, y, : n // 2]
        return FINER**3 * fft.irfftn(whole, (finer,) * 3)

    def in_waves(self, field: np.ndarray) -> np.ndarray:
        """The spectrum, without the waves that products fold back."""
        return fft.rfftn(field, axes=(-3, -2, -1)) * self.resolved

    def changes(self, velocity: np.ndarray, scalar: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Rates of both spectra but for the viscous parts, and the largest sum of speeds along the axes."""
        speed = self.in_space(velocity)
        vorticity = self.in_space(1j * np.cross(self.wave, velocity, axis=0))
        force = self.in_waves(np.cross(speed, vorticity, axis=0))
        along = (self.wave * force).sum(axis=0) / np.maximum(self.square, 1)
        flux = self.in_waves(speed * self.in_space(scalar))
        rate = -1j * (self.wave * flux).sum(axis=0) - self.gradient * velocity[2]
        return force - self.wave * along, rate, float(np.abs(speed).sum(axis=0).max())

    def step(self, longest: float) -> float:
        """One step of Heun's method, at most so long; returns its length."""
        force, rate, fastest = self.changes(self.velocity, self.scalar)
        length = min(longest, COURANT * PERIOD / self.points / max(fastest, 1e-30))
        decay = np.exp(-self.viscosity * self.square * length)
        mixing = np.exp(-self.viscosity / SCHMIDT * self.square * length)
        guess = decay * (self.velocity + length * force), mixing * (self.scalar + length * rate)
        later_force, later_rate, _ = self.changes(*guess)
        self.velocity = decay * (self.velocity + 0.5 * length * force) + 0.5 * length * later_force
        self.scalar = mixing * (self.scalar + 0.5 * length * rate) + 0.5 * length * later_rate
        return length

    def run(self, duration: float) -> Flow:
        """Steps up to a time."""
        time = 0.0
        while time < duration * (1 - 1e-9):
            time += self.step(duration - time)
        return self

    def facts(self) -> dict[str, float]:
        """Speed, dissipation, Reynolds number of the Taylor scale, and the largest wave times Kolmogorov's length."""
        speed = float(np.sqrt((self.in_space(self.velocity) ** 2).mean()))
        strain = self.in_space(1j * self.wave[:, None] * self.velocity[None])
        dissipation = self.viscosity * float((strain**2).sum(axis=(0, 1)).mean())
        taylor = speed * np.sqrt(15 * self.viscosity / dissipation)
        kolmogorov = (self.viscosity**3 / dissipation) ** 0.25
        return {
            "speed": speed,
            "dissipation": dissipation,
            "reynolds": speed * taylor / self.viscosity,
            "resolution": self.points / 3 * kolmogorov,
        }


def random_flow(points: int, viscosity: float, seed: int = 1) -> Flow:
    """A velocity of large random waves without divergence; the scalar has no fluctuation yet."""
    noise = np.random.default_rng(seed).standard_normal((3, points, points, points)).astype(np.float32)
    flow = Flow(fft.rfftn(noise, axes=(1, 2, 3)), np.zeros((points, points, points // 2 + 1), np.complex64), viscosity)
    size = np.sqrt(flow.square)
    flow.velocity *= (size >= LARGEST_WAVES[0]) & (size <= LARGEST_WAVES[1])
    flow.velocity -= flow.wave * (flow.wave * flow.velocity).sum(axis=0) / np.maximum(flow.square, 1)
    flow.velocity *= SPEED / np.sqrt((flow.in_space(flow.velocity) ** 2).mean())
    return flow


def slope(told: nf.Elements, least: float, most: float) -> float:
    """Exponent of the mean difference over the length, between two multiples of the mean length."""
    bins = told.statistics()
    length = bins.length.values / bins.attrs["mean_length"]
    chosen = (length > least) & (length < most) & (bins.elements_of_length.values >= 10)
    where, means = np.log(length[chosen]), np.log(bins.conditional_difference.values[chosen])
    weights = bins.conditional_difference.values[chosen] / bins.conditional_error.values[chosen]
    return float(np.polyfit(where, means, 1, w=weights)[0])


def picture(found: nf.Elements, flow: dict[str, float]) -> None:
    """The scalar with its spots, the elements, and two statistics."""
    figure = style.blank(11.0, 9.4)
    panels = figure.subplots(2, 2).ravel()
    found.plot.hot_spots("y", 0.0, ax=panels[0])
    found.plot("y", 0.0, ax=panels[1])
    found.plot.joint_density(ax=panels[2])
    found.plot.conditional_difference(ax=panels[3])
    style.headline(
        figure, "A passive scalar and its dissipation elements", f"Re of the Taylor scale {flow['reynolds']:.0f}"
    )
    FIGURE.write_bytes(style.png_bytes(figure))


def main() -> None:
    """Run the flow, find the elements of the scalar, keep the figures of the page."""
    given = argparse.ArgumentParser(description="A passive scalar and its elements")
    given.add_argument("--cells", type=int, default=128)
    given.add_argument("--duration", type=float, default=1.5)
    given.add_argument("--viscosity", type=float, default=0.008)
    asked = given.parse_args()
    with fft.set_workers(-1):
        flow = random_flow(asked.cells, asked.viscosity).run(asked.duration)
    found = nf.elements(flow.on_more_points(flow.scalar), PERIOD / asked.cells / FINER, "xyz", threads=1)
    told = found.statistics().attrs
    facts = flow.facts()
    values = {
        **facts,
        "elements": len(found),
        "maxima": len(found.maxima),
        "mean_length": told["mean_length"],
        "over_taylor": told["length_over_taylor_scale"],
        "points": found.labels.size / len(found),
        "slope": slope(found, 0.6, 2.5),
        "unresolved": 100 * found.unresolved / (2 * found.labels.size),
    }
    print(values)
    if asked == given.parse_args([]):  # the page's
        figures.keep(__file__, values)
        picture(found, facts)


if __name__ == "__main__":
    main()
