"""Machines with closed forms of motion or eigenvalues: a light cart with a pole, a four-bar with a spring."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from helpers_parts import X, Z, body, link, machine
from scipy.integrate import quad
from scipy.optimize import brentq

import gpmelica as gp
from gpmelica.description.load import from_data

from .case import Case, Published, Trajectory, Value, by_name

GRAVITY = [0.0, -9.81, 0.0]

# ---- Cart and pole ----------------------------------------------------------------------------------------------

CART, POLE, LENGTH, AMPLITUDE = 0.01, 1.0, 1.0, 1.0  # kg, kg, m, rad


def half_period() -> float:
    """Time from one end of the swing to the other, s.

    Energy and horizontal momentum give θ̇² = 2 g (M + m)(cos θ − cos θ₀)/(l (M + m sin² θ)). The substitution
    sin(θ/2) = sin(θ₀/2) sin s makes the integrand regular at both ends.
    """
    modulus = math.sin(AMPLITUDE / 2)

    def integrand(s: float) -> float:
        half = math.asin(modulus * math.sin(s))
        moving = CART + POLE * math.sin(2 * half) ** 2
        return math.sqrt(moving / (CART + POLE)) / math.cos(half)

    whole = quad(integrand, -math.pi / 2, math.pi / 2, epsabs=1e-13, epsrel=1e-13)[0]
    return float(whole * math.sqrt(LENGTH / -GRAVITY[1]))


def _cart_and_pole(angle: float = AMPLITUDE) -> gp.Model:
    """Point mass on a massless pole that hangs on a light cart, released at an angle, rad."""
    cart = link("cart", "prismatic", X) | body(CART, inertia=[0.0, 0.0, 0.0])
    pole = link("pole", "revolute", Z, "cart", rpy=[0.0, 0.0, "-pi/2"], position=angle)
    pole |= body(POLE, [LENGTH, 0.0, 0.0], [0.0, 0.0, 0.0])
    half = half_period()
    settings = {"start": "description", "stop": 2 * half, "output_step": half / 2, "tolerance": 1e-11}
    return gp.Model(from_data(machine(cart, pole, name="CartPole", gravity=GRAVITY, simulation=settings)))


def _swing() -> Published:
    """Angle and cart at quarters of the period.

    The centre of mass does not move along the rail, so that x = (sin θ₀ − sin θ) m l/(M + m).
    """
    reach = POLE * LENGTH / (CART + POLE) * math.sin(AMPLITUDE)
    rows = []
    for quarters, angle, way in ((1, 0.0, reach), (2, -AMPLITUDE, 2 * reach), (4, AMPLITUDE, 0.0)):
        time = quarters * half_period() / 2
        rows += [(time, "pole angle", angle), (time, "cart position", way)]
    return Published(tuple(rows))


def _small_oscillation(folder: Path) -> Iterator[Value]:
    """Angular frequency about the hanging pole, ω² = g (M + m)/(M l)."""
    expected = math.sqrt(-GRAVITY[1] * (CART + POLE) / (CART * LENGTH))
    ours = max(mode.eigenvalue.imag for mode in _cart_and_pole(0.0).modes())
    yield Value("angular frequency of the pole, rad/s", "linearize", expected, ours, expected)


# ---- Four-bar with a diagonal spring ----------------------------------------------------------------------------

STIFFNESS, DAMPING, REST = 25.0, 1.0, math.sqrt(2.0)  # N/m, N·s/m, m
EQUILIBRIUM = 2.23433101898  # rad, printed in EoM's input file, which leaves the rest length to the reader


def _energy_slope(angle: float) -> float:
    """Slope of the energy of the rhombus, whose sides are 1 m and whose diagonal is 2 cos(φ/2), N·m."""
    diagonal = 2 * math.cos(angle / 2)
    return -2 * GRAVITY[1] * math.cos(angle) - STIFFNESS * (diagonal - REST) * math.sin(angle / 2)


def eigenvalue() -> complex:
    """(5/3) φ̈ + c sin²(φ/2) φ̇ + V''(φ) φ = 0 about the equilibrium, 1/s, imaginary part above 0."""
    angle = float(brentq(_energy_slope, 2.0, 2.5, xtol=1e-15))
    half = angle / 2
    slope = STIFFNESS * (math.sin(half) ** 2 - (2 * math.cos(half) - REST) * math.cos(half) / 2)
    slope += 2 * GRAVITY[1] * math.sin(angle)
    decay = DAMPING * math.sin(half) ** 2 / 2 * 3 / 5
    return complex(-decay, math.sqrt(slope * 3 / 5 - decay**2))


def _four_bar() -> gp.Model:
    """Three slender rods of 1 m and 1 kg on two hinges 1 m apart, with a spring across."""
    rod = body(1.0, [0.5, 0.0, 0.0], [0.0, 1.0 / 12.0, 1.0 / 12.0])
    first = link("first", "revolute", Z, position=EQUILIBRIUM) | rod
    coupler = link("coupler", "revolute", Z, "first", xyz=[1.0, 0.0, 0.0], position=-EQUILIBRIUM) | rod
    last = link("last", "revolute", Z, xyz=[1.0, 0.0, 0.0], position=EQUILIBRIUM) | rod
    end = [1.0, 0.0, 0.0]
    pin = {
        "name": "pin",
        "type": "spherical",
        "a": {"link": "coupler", "xyz": end},
        "b": {"link": "last", "xyz": end},
    }
    ends = {"a": {"link": "ground", "point": [0.0] * 3}, "b": {"link": "last", "point": end}}
    spring = {"name": "spring", "stiffness": STIFFNESS, "damping": DAMPING, "rest": REST} | ends
    parts = {"closures": [pin], "lines": [spring], "statics": {"locked": []}}
    return gp.Model(from_data(machine(first, coupler, last, name="FourBar", gravity=GRAVITY, **parts)))


def _equilibrium(folder: Path) -> Iterator[Value]:
    ours = _four_bar().statics()["last.angle"]
    yield Value("angle of the equilibrium, rad", "reference", EQUILIBRIUM, ours, EQUILIBRIUM)


def _eigenvalues(folder: Path) -> Iterator[Value]:
    expected = eigenvalue()
    ours = max((mode.eigenvalue for mode in _four_bar().modes(equilibrium=True)), key=lambda value: value.imag)
    for part, published, found in (("real", expected.real, ours.real), ("imaginary", expected.imag, ours.imag)):
        yield Value(f"{part} part of the eigenvalue, 1/s", "linearize", published, found, abs(expected))


CASES = (
    Case(
        name="cart-pole",
        source="Light cart with a pole, closed form of the swing from energy and momentum",
        precision="quadrature to 1e-13",
        bound=1e-7,
        values=Trajectory(
            _cart_and_pole,
            _swing,
            ("pole_angle", "cart_position"),
            by_name(**{"pole angle": "pole_angle", "cart position": "cart_position"}),
        ),
        quick=True,
    ),
    Case(
        name="cart-pole-mode",
        source="Light cart with a pole, closed form of the small oscillation",
        precision="exact",
        bound=1e-11,
        values=_small_oscillation,
        quick=True,
    ),
    Case(
        name="four-bar-equilibrium",
        source="Four-bar with a diagonal spring of the IFToMM library, equilibrium in EoM's input_ex_four_bar.m",
        precision="12 digits printed, the last two of which the closed form does not confirm",
        bound=3e-11,
        values=_equilibrium,
        quick=True,
    ),
    Case(
        name="four-bar-eigenvalue",
        source="Four-bar with a diagonal spring of the IFToMM library, closed form of its eigenvalue",
        precision="exact",
        bound=1e-11,
        values=_eigenvalues,
        quick=True,
    ),
)
