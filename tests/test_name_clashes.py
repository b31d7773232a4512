"""Names of the user that are also names of generated variables, such as the mass of a link."""

from __future__ import annotations

from typing import Any

import pytest
from helpers_parts import Z, body, link, machine

import gpmelica as gp
from gpmelica.analysis.system import assemble_system
from gpmelica.description.load import from_data


def arm(**masses: Any) -> dict[str, Any]:
    """Two links with given masses and parameters called like the masses of the links."""
    links = [link(name, "revolute", Z) | body(masses[name]) for name in ("upper", "lower")]
    return machine(*links, parameters={"upper_mass": 2.0, "lower_mass": 3.0})


@pytest.mark.parametrize(
    "masses",
    [{"upper": "upper_mass", "lower": 1.0}, {"upper": "lower_mass", "lower": "upper_mass"}],
    ids=["defined_by_itself", "defined_by_each_other"],
)
def test_a_parameter_with_the_name_of_a_mass_is_reported(masses: dict[str, Any]) -> None:
    """Definitions that use each other have no order; the sorting of the equations ends nevertheless."""
    with pytest.raises(gp.DescriptionError, match="upper_mass: two quantities would be called 'upper_mass'"):
        assemble_system(from_data(arm(**masses)))


def test_other_names_of_parameters_are_accepted() -> None:
    data = arm(upper="heavy", lower=1.0) | {"parameters": {"heavy": 2.0}}
    assert assemble_system(from_data(data)).mechanism.bodies[0].mass == 2.0
