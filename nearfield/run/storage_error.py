"""The error that fields in 16 bits add to a model: a short run with them beside the same steps in full storage."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.engines import ENGINES
from nearfield.engines.cuda.device import device
from nearfield.engines.cuda.sizes import device_bytes
from nearfield.entry.errors import ModelError
from nearfield.entry.levels import decibels
from nearfield.plan.recorders import DFTBox, SnapshotBox
from nearfield.trust.entries import Trust, judged

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization
    from nearfield.engines.protocol import LocalEngine
    from nearfield.plan.plan import Plan

STEPS = 100, 2000  # of the short run, at least and at most
SHARE = 0.1  # of the expected steps that the short run takes at most, where they allow `STEPS`
LOOKS = 8  # at the fields of the short run, evenly in time
PEAK = 11  # power of two that the largest field lies below in 16 bits: 32 times less than fits, 2^25 times the smallest
EXPONENTS = -100, 102  # between which whatever fits in 16 bits is a normal number of single precision
COMPARED = 2**20  # samples of a component that are compared at most
WEAKEST = 1e-3  # of the strongest signal; weaker ones are not compared
LIMITS = -40.0, -20.0  # dB of error: good up to the first; past the second the run is refused


@dataclass(frozen=True)
class StorageError:
    """The error of 16-bit storage over `steps` steps of an excitation, in parts of the fields and signals.

    exponents: E and eta0 H (V/m) lie in 16 bits times two to the power of these. fields: RMS of the difference over the
    largest RMS of the fields. signals, spectra: the worst of the recorded signals, RMS and peak; None: none recorded.
    expected: `fields` or `signals`, the worse, at the expected end, if rounding adds up like a random walk.
    """

    excitation: str
    steps: int
    expected_steps: int
    exponents: tuple[int, int]
    fields: float
    signals: float | None
    spectra: float | None

    @property
    def worst(self) -> float:
        return max(self.fields, self.signals or 0.0)

    @property
    def expected(self) -> float:
        return self.worst * math.sqrt(max(1.0, self.expected_steps / self.steps))

    def __str__(self) -> str:
        text = f"{self.steps} steps of excitation {self.excitation!r} beside full storage: fields {level(self.fields)}"
        if self.signals is not None and self.spectra is not None:
            text += f", recorded signals {level(self.signals)}, their spectra {level(self.spectra)} at worst"
        if self.expected_steps <= self.steps:
            return text
        return f"{text}; by step {self.expected_steps} {level(self.expected)}, as rounding grows like the root of steps"

    def trust(self) -> Trust:
        """The entry of the trust report."""
        text = f'of error by storage "16-bit": {self}; storage "full" has none'
        return judged("16-bit storage", float(decibels(max(self.expected, 1e-15))), *LIMITS, text, "dB")

    def facts(self) -> dict[str, Any]:
        """The numbers as plain values."""
        return asdict(self) | {"expected": self.expected}


def level(part: float) -> str:
    """A part as decibels, in words."""
    return f"{float(decibels(max(part, 1e-15))):.0f} dB"


def measured(setup: Discretization, threads: int | None = None) -> StorageError:
    """The error of 16-bit storage on a model, and the scale of its fields. Error: it is above the limit, or nothing is
    excited in so many steps."""
    excitation = setup.excitations[0]
    steps = paired_steps(setup, excitation)
    plan = bare(setup.plan)
    full = replace(plan, storage="full")
    wide = Paired(ENGINES[engine_for(full)](full, threads), steps, excitation)
    narrow = replace(plan, exponents=wide.exponents())
    error = wide.compared(Paired(ENGINES["cuda"](narrow, threads), steps, excitation))
    found = StorageError(excitation, steps, setup.expected_steps, wide.exponents(), *error)
    if decibels(max(found.worst, 1e-15)) > LIMITS[1]:
        raise ModelError(
            f'storage "16-bit" is too coarse for this model: {found}; at most {LIMITS[1]:g} dB are allowed in this '
            'short run. Take storage "full", which has no such error'
        )
    return found


def scaled(setup: Discretization, threads: int | None = None) -> tuple[Plan, StorageError | None]:
    """The plan of a model with the scale of its fields, and the error of their storage; None in full storage."""
    if setup.plan.storage == "full":
        return setup.plan, None
    error = measured(setup, threads)
    return replace(setup.plan, exponents=error.exponents), error


def said(error: StorageError | None, facts: dict[str, Any], say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Put the error of storage into a run's facts and say it; returns its entry of the trust report, where it has
    one."""
    if error is None:
        return []
    facts["storage"], entry = error.facts(), error.trust()
    say(f'storage "16-bit", {error}')
    if entry.verdict != "good":
        warnings.warn(str(entry), stacklevel=5)
    return [entry.json_data()]


def paired_steps(setup: Discretization, excitation: str) -> int:
    """Steps of the short run: until the sources are off, within `STEPS` and `SHARE` of the expected ones."""
    pulse = math.ceil(setup.source_end(excitation) / setup.time_step)
    share = max(STEPS[0], round(SHARE * setup.expected_steps))
    return max(1, min(max(pulse, STEPS[0]), share, STEPS[1], setup.steps))


def bare(plan: Plan) -> Plan:
    """A plan without what records whole boxes, which nobody compares."""
    return replace(plan, terms=tuple(term for term in plan.terms if not isinstance(term, DFTBox | SnapshotBox)))


def engine_for(plan: Plan) -> str:
    """The engine that makes the steps in full storage, with the bits of any: the card where it has the room."""
    free = device().free_memory()
    return "cuda" if free is not None and device_bytes(plan) <= free else "cpu"


class Paired:
    """What one of the two runs left: peaks of E and H, samples of all fields at its end, the signals."""

    def __init__(self, engine: LocalEngine, steps: int, excitation: str) -> None:
        self.peaks, self.largest = np.zeros(2), 0.0  # V/m; RMS of the samples
        self.fields: list[np.ndarray] = []
        for size in np.diff(np.linspace(0, steps, LOOKS + 1).astype(int)):
            if size:
                engine.advance(int(size), excitation)
                self._look(engine)
        self.signals = [recording.values for recording in engine.recordings() or []]

    def _look(self, engine: LocalEngine) -> None:
        count = 6 * (1 + engine.plan.complex_fields)
        stride = math.ceil((math.prod(engine.plan.active) / COMPARED) ** (1 / 3))
        self.fields = []
        for component in range(count):
            values, half = engine.state(component), component // 3 % 2
            self.peaks[half] = max(self.peaks[half], float(values.max()), -float(values.min()))
            self.fields.append(values[(slice(None, None, stride),) * 3].astype(float))
        self.largest = max(self.largest, norm(self.fields))

    def exponents(self) -> tuple[int, int]:
        """Powers of two for E and H. Error: there is no field."""
        if not self.peaks.any():
            raise ModelError(
                'storage "16-bit" takes its scale from the first steps, in which nothing was excited; let the sources '
                'begin earlier, or take storage "full"'
            )
        peaks = np.where(self.peaks > 0, self.peaks, self.peaks.max())
        electric, magnetic = (int(np.clip(PEAK - math.frexp(peak)[1], *EXPONENTS)) for peak in peaks)
        return electric, magnetic

    def compared(self, other: Paired) -> tuple[float, float | None, float | None]:
        """Error of another run's fields, signals and spectra, in parts of these."""
        fields = norm([one - two for one, two in zip(self.fields, other.fields)]) / self.largest
        strongest = max((norm([signal]) for signal in self.signals), default=0.0)
        strong = [(one, two) for one, two in zip(self.signals, other.signals) if norm([one]) > WEAKEST * strongest > 0]
        signals = max((norm([one - two]) / norm([one]) for one, two in strong), default=None)
        return fields, signals, max((spectral_error(*pair) for pair in strong), default=None)


def spectral_error(signal: np.ndarray, other: np.ndarray) -> float:
    """The largest error of a signal's spectrum over its peak."""
    spectrum, error = (np.abs(np.fft.rfft(values, axis=0)) for values in (signal, signal - other))
    return float(error.max() / spectrum.max())


def norm(arrays: list[np.ndarray]) -> float:
    """The root of the mean square of all elements."""
    count = sum(array.size for array in arrays)
    return math.sqrt(sum(float(np.vdot(array, array).real) for array in arrays) / max(count, 1))
