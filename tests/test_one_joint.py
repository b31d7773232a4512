"""Start equations of a mechanism with a single joint, which has no extent."""

from __future__ import annotations

from helpers_parts import body, link, machine

from gpmelica.analysis.system import assemble_system
from gpmelica.description.load import from_data
from gpmelica.fmu.backends import native


def test_knife_edge_of_one_link_is_generated() -> None:
    edge = {"name": "wheel", "link": "platform", "point": [0.0, 0.0, 0.0], "normal": [0.0, 1.0, 0.0]}
    platform = link("platform", "planar", velocity=[1.0, 0.0, 0.5]) | body("payload", inertia=[0.1, 0.1, 0.1])
    data = machine(platform, nonholonomic=[edge], parameters={"payload": 2.0})
    model = assemble_system(from_data(data))
    assert native.generate(model.native_program, model.chain).description
