"""The garbage collector is left as it was found."""

from __future__ import annotations

import gc

import pytest

from gpmelica.generator.uncollected import uncollected


@pytest.mark.parametrize("on", [True, False])
def test_collector_is_as_before(on: bool) -> None:
    """After work within work, and after an error; between it is off."""
    was_on = gc.isenabled()
    try:
        gc.enable() if on else gc.disable()
        with pytest.raises(ZeroDivisionError), uncollected():
            with uncollected():
                assert not gc.isenabled()
            assert not gc.isenabled()
            raise ZeroDivisionError
        assert gc.isenabled() == on
    finally:
        gc.enable() if was_on else gc.disable()
