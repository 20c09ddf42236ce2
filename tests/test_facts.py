"""What a result says of the machine that made it."""

import platform

import pytest

from nearfield.machine import facts, system_files

XEON = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Processor\n\nprocessor\t: 1\nmodel name\t: another\n"
GRAVITON = "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n"


@pytest.mark.parametrize(
    ("information", "name"),
    [
        (XEON, "Intel(R) Xeon(R) Processor"),
        (GRAVITON, f"{platform.machine()}, implementer 0x41, part 0xd0c"),
        ("", platform.processor() or platform.machine()),
        (None, platform.processor() or platform.machine()),
    ],
)
def test_the_processor_has_the_name_or_the_numbers_that_the_system_gives(information, name, tmp_path, monkeypatch):
    monkeypatch.setattr(system_files, "CPUINFO", tmp_path / "cpuinfo")
    if information is not None:
        system_files.CPUINFO.write_text(information)
    assert facts.processor_name() == name
