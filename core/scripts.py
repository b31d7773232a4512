"""Scripts of HTML pages: data as JSON, and hashes for the content security policy."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from markupsafe import Markup


def json_script(identifier: str, data: Any) -> Markup:
    """Return a script element with data as JSON; `identifier` is the id of the element."""
    # The text of an HTML script element must not contain `</script>`.
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return Markup(f'<script type="application/json" id="{identifier}">{text}</script>')


def policy_hash(source: str) -> str:
    """Return the hash expression for a content security policy that permits a script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
