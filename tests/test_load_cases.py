"""Names of cases that are no texts."""

from __future__ import annotations

import pytest

from gpmelica.core.errors import DescriptionError
from gpmelica.description.load import from_data


@pytest.mark.parametrize("name", [[], {}, 3, None])
def test_name_of_a_case_that_is_no_text(name: object) -> None:
    """Each value that is no text is reported at its key, without a traceback."""
    data = {"schema": 1, "name": "M", "links": [], "cases": [{"name": name, "set": {}}]}
    with pytest.raises(DescriptionError, match=r"cases\[0\]\.name"):
        from_data(data)
