"""Which device kernels run on: `NEARFIELD_DEVICE`, or a card where one can be used."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass

from nearfield.entry.errors import ModelError

VARIABLE = "NEARFIELD_DEVICE"
DRIVER = "libcuda.so.1"  # comes with NVIDIA's driver
HOST = {"host": "forwards", "host-backwards": "backwards"}  # names of the make-believe device, and its order of blocks
OTHERWISE = f'give engine "cpu" (the same bits), or set {VARIABLE}=host for the same kernels on this processor, slowly'


@dataclass(frozen=True)
class Device:
    """A device as results name it, and the order in which it makes blocks of threads."""

    name: str
    order: str


def device() -> Device:
    """The device for this process. Error: there is none, or `NEARFIELD_DEVICE` names another than are allowed."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted in HOST:
        return Device("host", HOST[wanted])
    if wanted:
        raise ModelError(
            f"{VARIABLE}={wanted} is not a device; allowed: {', '.join(HOST)}, or unset for a card; {OTHERWISE}"
        )
    if not driver_found():
        raise ModelError(f'engine "cuda" needs a card: no NVIDIA driver was found here ({DRIVER}); {OTHERWISE}')
    raise ModelError(
        'engine "cuda" cannot drive a card yet, though a driver is here: this version runs its kernels on the '
        f"make-believe device alone; {OTHERWISE}"
    )


def driver_found() -> bool:
    """Whether NVIDIA's driver can be loaded."""
    try:
        ctypes.CDLL(DRIVER)
    except OSError:
        return False
    return True
