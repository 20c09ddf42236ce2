"""The flow of examples/passive_scalar.py against exact solutions, and the whole example at a small size."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import fft

import nearfield as nf
from examples.passive_scalar import PERIOD, Flow, random_flow


def spectra(*fields: np.ndarray) -> np.ndarray:
    return np.stack([fft.rfftn(field) for field in fields])


def test_taylor_and_greens_vortices_decay_as_they_should():
    x, y, z = np.meshgrid(*(np.arange(16) * PERIOD / 16,) * 3, indexing="ij")
    velocity = (np.sin(x) * np.cos(y), -np.cos(x) * np.sin(y), np.zeros_like(z))
    flow = Flow(spectra(*velocity), spectra(np.cos(z))[0], 0.05, gradient=0.0).run(0.5)
    # an exact solution: the force of these vortices is a gradient, the scalar lies across the flow
    for found, begun in zip(flow.in_space(flow.velocity), velocity):
        assert found == pytest.approx(begun * np.exp(-2 * 0.05 * 0.5), abs=1e-12)
    assert flow.in_space(flow.scalar) == pytest.approx(np.cos(z) * np.exp(-0.05 * 0.5), abs=1e-12)


def test_flows_have_no_divergence_and_keep_their_energy_but_for_friction():
    flow = random_flow(24, 0.0)
    flow.velocity, flow.scalar, flow.gradient = flow.velocity.astype(complex), flow.scalar.astype(complex), 0.0
    flow.scalar = flow.velocity[0].copy()

    def energies() -> np.ndarray:
        return np.array([np.sum(flow.in_space(part) ** 2) for part in (flow.velocity, flow.scalar)])

    before, lost = energies(), []
    start = flow.velocity, flow.scalar
    for steps in (10, 20):
        flow.velocity, flow.scalar = start
        for _ in range(steps):
            flow.step(0.2 / steps)
        lost.append(np.abs(energies() / before - 1))
    assert np.abs((flow.wave * flow.velocity).sum(axis=0)).max() < 1e-6 * np.abs(flow.velocity).max()
    # exact but for the steps, whose energy errs by their third power each: halves of a step by 4 to 8
    assert (lost[1] < lost[0] / 3.5).all() and (lost[1] < 1e-3).all()


def test_more_points_hold_the_same_waves():
    flow = random_flow(24, 0.01)
    finer = flow.on_more_points(flow.velocity[0])
    assert finer[::2, ::2, ::2] == pytest.approx(flow.in_space(flow.velocity[0]), abs=1e-5)
    # waves up to 3, 8 points each on the coarse grid: means of two miss what is between by some 1 - cos(pi / 8)
    halfway = 0.5 * (finer[:-2:2] + finer[2::2])
    assert np.abs(halfway - finer[1:-1:2]).max() < (1 - np.cos(3 * np.pi / 24)) * np.abs(finer).max() * 3


@pytest.mark.slow
def test_elements_of_a_scalar_span_a_few_taylor_scales():
    flow = random_flow(64, 0.02).run(2.0)
    assert flow.facts()["resolution"] > 1.0
    found = nf.elements(flow.on_more_points(flow.scalar), PERIOD / 128, "xyz", threads=1)
    told = found.statistics().attrs
    # of the order of the Taylor scale, as in direct simulations; Gaussian fields have some four
    assert 1.0 < told["length_over_taylor_scale"] < 6.0 and (found.difference > 0).all()
