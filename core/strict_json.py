"""JSON output that conforms to RFC 8259."""

from __future__ import annotations

import json
import math
from typing import Any


def strict_json(data: Any) -> str:
    """Return indented JSON that every parser accepts: NaN and infinities become null."""
    return json.dumps(_finite(data), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    if isinstance(data, float):
        return float(data) if math.isfinite(data) else None
    return data
