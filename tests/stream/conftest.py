"""Rings of tests have names of their own, and nothing of them may be left in shared memory."""

from __future__ import annotations

import itertools
import os

import pytest

from nearfield.stream import names

_numbers = itertools.count()


@pytest.fixture
def name():
    prefix = f"test.{os.getpid()}.{next(_numbers)}"
    yield prefix
    left = [found for found, _ in names.ring_files() if found.startswith(prefix)]
    for found in left:
        names.path_of(found).unlink()
    assert left == []
