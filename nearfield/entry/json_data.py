"""Values of all kinds as JSON can hold them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def json_data(value: Any, not_finite: Callable[[float], Any] = str) -> Any:
    """A value as dictionaries, lists, texts and numbers; `not_finite` converts infinities and NaN."""
    if isinstance(value, Mapping):
        return {str(key): json_data(entry, not_finite) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_data(entry, not_finite) for entry in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return json_data(value.tolist(), not_finite)
    if isinstance(value, float) and not math.isfinite(value):
        return not_finite(value)
    return value if isinstance(value, (str, int, float, type(None))) else str(value)
