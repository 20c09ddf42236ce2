"""Records that end while they ring say so, and S of one excitation says what the other ports spoil."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.trust.cut_off import level_left

CELL = 2e-3


def cavity(steps=None, resistances=(200.0,), **options) -> nf.Simulation:
    """A metal box of 12 x 14 x 10 cells with a port of each resistance between its floor and lid."""
    ports = [
        nf.LumpedPort(
            f"p{n}",
            ((4 + 4 * n) * CELL, 5 * CELL, 0),
            ((4 + 4 * n) * CELL, 5 * CELL, 4 * CELL),
            "z",
            resistance=r,
            reference_impedance=50.0 if n else None,
        )
        for n, r in enumerate(resistances)
    ]
    return nf.Simulation(
        grid=nf.Grid.uniform(CELL, (12, 14, 4)),
        boundaries=nf.Boundaries(all=nf.PEC),
        ports=ports,
        waveform=nf.Gaussian(12e9),
        monitors=[
            nf.Probe("tip", (8 * CELL, 9 * CELL, 2 * CELL)),
            nf.FieldDFT("plane", (0, 0, 2 * CELL), (12 * CELL, 14 * CELL, 2 * CELL), [9e9]),
        ],
        **({} if steps is None else {"steps": steps}),
        **options,
    )


def cut_off(result) -> list[str]:
    return [text for text in result.facts["warnings"] if "was cut off" in text]


def entry(result, name: str):
    return next(entry for entry in result.trust if name in entry.name)


def test_every_record_that_rings_at_the_last_step_says_by_how_much(tmp_path):
    result = cavity(400).run(threads=1, output=tmp_path / "result.h5")
    assert result.status == "done"
    (text,) = cut_off(result)
    for record in ("port 'p0'", "probe 'tip'", "field-dft 'plane'"):
        found = entry(result, record)
        assert found.verdict in ("warn", "bad") and found.limit == -40.0 and found.unit == "dB"
        assert f"{record} {found.value:.0f} dB" in text
    assert "give more `steps`" in text and "S-parameters" in text
    kept = nf.open_result(tmp_path / "result.h5")
    assert kept.trust == result.trust


def test_the_level_left_is_that_of_the_signal():
    """Half the swing over the last twentieth of a signal whose peak is known."""
    result = cavity(400).run(threads=1)
    signal = result["tip"].values
    tail = signal[-(signal.size // 20) :]
    expected = 20 * np.log10(0.5 * np.ptp(tail) / np.abs(signal).max())
    assert entry(result, "probe 'tip'").value == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("periods", [0.8, 2.0, 4.9, 6.0, 12.0])
def test_what_is_left_of_a_record_of_few_slow_periods_is_no_part_of_the_pulse(periods):
    """A pulse over the first 90 % of the record and rounding after it; and what goes on at the lowest frequency."""
    times = np.linspace(0.0, 1.0, 4001)
    pulse = np.exp(-(((times - 0.45) / 0.12) ** 2)) * np.cos(50 * times)
    died = level_left(times, pulse * (times < 0.9) + 1e-7 * np.cos(900 * times), periods, 1e-9)
    assert -141 < died < -90  # slopes count for as much as they would at the lowest frequency
    for phase in np.linspace(0.0, 6.0, 13) if periods > 1.0 else []:
        going_on = pulse * (times < 0.9) + 0.01 * np.cos(2 * np.pi * 1.5 * periods * times + phase)
        assert -50.0 < level_left(times, going_on, periods, 1e-9) < -30.0  # least where an extremum is the end


def test_records_that_have_died_away_are_not_called_cut_off():
    middle = 12 * CELL
    result = nf.Simulation(
        grid=nf.Grid.uniform(CELL, (24, 24, 24)),
        sources=[nf.PointCurrent((middle, middle, middle + 0.5 * CELL), "z", nf.GaussianDerivative(8e9))],
        monitors=[nf.Probe("tip", (middle, middle, 15.5 * CELL)), nf.Flux("out", (16e-3,) * 3, (32e-3,) * 3, [8e9])],
        steps=1000,
    ).run(threads=1)
    assert not cut_off(result)
    assert [entry.verdict for entry in result.trust if "left at the end" in entry.name] == ["good", "good"]


def test_a_source_without_end_and_a_record_for_resonances_are_not_called_cut_off():
    cw = nf.PointCurrent((8 * CELL, 4 * CELL, 1.5 * CELL), "z", nf.ContinuousWave(9e9))
    ringing = nf.Probe("ringing", (8 * CELL, 9 * CELL, 2 * CELL), resonances=(4e9, 12e9))
    box = {"grid": nf.Grid.uniform(CELL, (12, 14, 4)), "boundaries": nf.Boundaries(all=nf.PEC), "steps": 400}
    assert not cut_off(
        nf.Simulation(sources=[cw], monitors=[nf.Probe("tip", (8 * CELL, 9 * CELL, 2 * CELL))], **box).run(threads=1)
    )
    pulse = cw.model_copy(update={"waveform": nf.Gaussian(12e9)})
    assert not cut_off(nf.Simulation(sources=[pulse], monitors=[ringing], **box).run(threads=1))


def test_one_excitation_of_two_ports_says_what_the_other_port_spoils(tmp_path):
    """Port p1 ends in 80 ohm, which send back 3/13 of the waves counted in its reference of 50 ohm."""
    model = cavity(3000, (200.0, 80.0), excitations=["p0"])
    result = model.run(threads=1)
    returned = entry(result, "waves sent back")
    (text,) = [text for text in result.facts["warnings"] if "alone" in text]
    assert "'p0'" in text and "'p1'" in text and f"{returned.value:.2g}" in text
    # S from both excitations: b/a of one errs by at most the waves that the other port sends back
    both = cavity(3000, (200.0, 80.0)).run(threads=1)
    one, two = (r.sparameters.sel(source="p0").values for r in (result, both))
    known = np.isfinite(one).all(axis=1) & np.isfinite(two).all(axis=1)
    assert np.abs(one - two)[known].max() <= returned.value * np.abs(two[known]).max() + 1e-6
    assert not any("alone" in text for text in both.facts["warnings"])
    assert not any("nan" in str(entry).split() for entry in result.trust)
    assert not any("p1 driven" in entry.name for entry in result.trust)
    with pytest.raises(nf.ModelError, match=r"given the file name x.s2p; allowed: x.s1p, because 1 of 2 ports"):
        result.write_touchstone(tmp_path / "x.s2p")
    assert result.write_touchstone(tmp_path / "x").name == "x.s1p"
