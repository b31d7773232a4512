"""Parts of a coupled system in Python: linear systems, laws without memory, ordinary differential equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

from gpmelica.core.trajectory import Array
from gpmelica.coupling import courses as polynomials
from gpmelica.coupling.participant import Abilities, PortSignal

Names = Sequence[str | PortSignal]


def _signals(names: Names) -> tuple[PortSignal, ...]:
    return tuple(name if isinstance(name, PortSignal) else PortSignal(name) for name in names)


def _matrix(entries: Any, rows: int, columns: int) -> Array:
    return np.zeros((rows, columns)) if entries is None else np.array(entries, dtype=float).reshape(rows, columns)


class _Part:
    """State handling that all parts in Python share; `_x` is the state and `_u` the inputs at the present time."""

    abilities = Abilities()
    ended = False

    def __init__(self, name: str, inputs: Names, outputs: Names, x: Sequence[float] = (), **changes: Any) -> None:
        self.name = name
        self.inputs, self.outputs = _signals(inputs), _signals(outputs)
        self.abilities = replace(self.abilities, **changes)
        self._initial = np.array(x, dtype=float)

    def start(self, t: float, inputs: Array) -> None:
        self._t, self._x, self._u = t, self._initial.copy(), np.array(inputs, dtype=float)
        self._du = np.zeros_like(self._u)

    def try_inputs(self, inputs: Array) -> Array:
        self._u = np.array(inputs, dtype=float)
        return self.outputs_now()

    def begin(self) -> None:
        pass

    def outputs_now(self) -> Array:
        raise NotImplementedError

    def settle(self, inputs: Array) -> None:
        self._u = np.array(inputs, dtype=float)

    def save(self) -> Any:
        return self._t, self._x, self._u, self._du

    def restore(self, state: Any) -> None:
        self._t, self._x, self._u, self._du = state

    def free(self, state: Any) -> None:
        pass

    def gains(self) -> Array | None:
        return None

    def close(self) -> None:
        pass

    def _end_at(self, t: float, h: float, courses: Array) -> None:
        """Note the time, the inputs and their slopes at the end of a step."""
        self._t, self._u = t + h, polynomials.ends(courses)
        self._du = polynomials.end_rises(courses) / h


class LinearPart(_Part):
    """ẋ = A x + B u + b, y = C x + D u, integrated exactly for polynomial inputs by the matrix exponential.

    Parameters
    ----------
    a, b, c, d : matrices of shapes (n, n), (n, n_u), (n_y, n), (n_y, n_u)
    bias : constant part of ẋ, shape (n,)
    """

    def __init__(
        self,
        name: str,
        inputs: Names,
        outputs: Names,
        a: Any,
        b: Any,
        c: Any,
        d: Any = None,
        x: Any = (),
        bias: Any = None,
        **changes: Any,
    ) -> None:
        super().__init__(name, inputs, outputs, x, **changes)
        n, n_u, n_y = len(self._initial), len(self.inputs), len(self.outputs)
        self._a, self._b = _matrix(a, n, n), _matrix(b, n, n_u)
        self._c, self._d = _matrix(c, n_y, n), _matrix(d, n_y, n_u)
        self._bias = np.zeros(n) if bias is None else np.array(bias, dtype=float)
        self._maps: dict[float, tuple[Array, ...]] = {}

    def outputs_now(self) -> Array:
        return np.asarray(self._c @ self._x + self._d @ self._u)

    def slopes_now(self, input_slopes: Array) -> Array:
        rate = self._a @ self._x + self._b @ self._u + self._bias
        return np.asarray(self._c @ rate + self._d @ input_slopes)

    def gains(self) -> Array:
        """∂ outputs / ∂ inputs at the present time, shape (n_y, n_u)."""
        return self._d

    def advance(self, t: float, h: float, courses: Array) -> tuple[float, bool]:
        free, bias, forced = self._map(h)
        self._x = free @ self._x + bias + forced @ courses.ravel()
        self._end_at(t, h, courses)
        return t + h, False

    def _map(self, h: float) -> tuple[Array, ...]:
        """Matrices of one step: of the state, of the bias, and of the coefficients, shape (n, 4 n_u)."""
        if h not in self._maps:
            self._maps[h] = self._exponential(h)
        return self._maps[h]

    def _exponential(self, h: float) -> tuple[Array, ...]:
        n, n_u = self._b.shape
        columns = np.hstack([self._b, self._bias[:, None]])
        m = n_u + 1
        block = np.zeros((n + 4 * m, n + 4 * m))
        block[:n, :n], block[:n, n : n + m] = self._a * h, columns * h
        for k in range(3):  # the k-th block is s^k; d(s^k)/ds = k s^(k−1) drives from below
            rows = slice(n + k * m, n + (k + 1) * m)
            block[rows, n + (k + 1) * m : n + (k + 2) * m] = (k + 1.0) * np.eye(m)
        whole = expm(block)
        forced = np.stack([whole[:n, n + k * m : n + (k + 1) * m] for k in range(4)], axis=2)
        return whole[:n, :n], forced[:, -1, 0], forced[:, :-1, :].reshape(n, 4 * n_u)


@dataclass(frozen=True)
class Switch:
    """A condition of a law: `function(t, x, u)` changes its sign at the event."""

    function: Callable[[float, Array, Array], float]


class OdePart(_Part):
    """ẋ = f(t, x, u), y = g(t, x, u), integrated by SciPy's DOP853; a law without memory has no f.

    Parameters
    ----------
    f : function (t, x, u) → ẋ, or None
    g : function (t, x, u) → y; with switches (t, x, u, sides) → y, and f alike
    switches : conditions whose sides, −1 or 1, stay as they are between events
    tolerance : relative tolerance of the integration
    """

    def __init__(
        self,
        name: str,
        inputs: Names,
        outputs: Names,
        g: Callable[..., Any],
        f: Callable[..., Any] | None = None,
        x: Sequence[float] = (),
        switches: Sequence[Switch] = (),
        tolerance: float = 1e-11,
        **changes: Any,
    ) -> None:
        super().__init__(name, inputs, outputs, x, **({"memory": f is not None} | changes))
        self._f, self._g, self._tolerance = f, g, tolerance
        self._switches = tuple(switches)
        self._sides: tuple[float, ...] = ()

    def start(self, t: float, inputs: Array) -> None:
        super().start(t, inputs)
        self.settle(inputs)

    def settle(self, inputs: Array) -> None:
        super().settle(inputs)
        later = self._later(1e-9)
        self._sides = tuple(1.0 if s.function(*later) > 0.0 else -1.0 for s in self._switches)

    def _later(self, ahead: float) -> tuple[float, Array, Array]:
        """Time, state and inputs a moment ahead, which tell the side that a condition moves to."""
        x = self._x + (ahead * self._rate(self._t, self._x, self._u) if self._f else 0.0)
        return self._t + ahead, x, self._u + ahead * self._du

    def save(self) -> Any:
        return super().save(), self._sides

    def restore(self, state: Any) -> None:
        super().restore(state[0])
        self._sides = state[1]

    def outputs_now(self) -> Array:
        return self._outputs(self._t, self._x, self._u)

    def slopes_now(self, input_slopes: Array) -> Array:
        """Return ẏ by a central difference along the motion."""
        e = 1e-5
        x_dot = self._rate(self._t, self._x, self._u) if self._f else 0.0
        after, before = (
            self._outputs(self._t + k * e, self._x + k * e * x_dot, self._u + k * e * input_slopes)
            for k in (1, -1)
        )
        return (after - before) / (2 * e)

    def _outputs(self, t: float, x: Array, u: Array) -> Array:
        return np.array(self._g(t, x, u, *self._more()), dtype=float)

    def _rate(self, t: float, x: Array, u: Array) -> Array:
        assert self._f is not None
        return np.array(self._f(t, x, u, *self._more()), dtype=float)

    def _more(self) -> tuple[Any, ...]:
        return (self._sides,) if self._switches else ()

    def advance(self, t: float, h: float, courses: Array) -> tuple[float, bool]:
        def inputs(time: float) -> Array:
            return np.asarray(polynomials.at(courses, np.array([(time - t) / h]))[:, 0])

        state = self._course(t, h, inputs)
        event = self._first_event(t, h, lambda time: (time, state(time), inputs(time)))
        end = t + h if event is None else event
        self._x, self._t = state(end), end
        s = (end - t) / h
        self._u = inputs(end)
        self._du = np.asarray(courses @ np.array([0.0, 1.0, 2 * s, 3 * s * s])) / h
        return end, event is not None

    def _course(self, t: float, h: float, inputs: Callable[[float], Array]) -> Callable[[float], Array]:
        """State over the step as a function of time."""
        if self._f is None:
            return lambda time: self._x
        solution = solve_ivp(
            lambda time, x: self._rate(time, x, inputs(time)),
            (t, t + h),
            self._x,
            "DOP853",
            rtol=self._tolerance,
            atol=1e-3 * self._tolerance,
            dense_output=bool(self._switches),
            first_step=h,
        )
        course: Any = solution.sol
        return course if self._switches else lambda time: np.asarray(solution.y[:, -1])

    def _first_event(self, t: float, h: float, at: Callable[[float], tuple[float, Array, Array]]) -> float | None:
        """Time of the first change of a side within the step, s."""
        grid = np.linspace(t, t + h, 9)
        grid[-1] = t + h
        found = []
        for switch, side in zip(self._switches, self._sides, strict=True):
            values = np.array([side * switch.function(*at(time)) for time in grid])
            after = np.flatnonzero(values[1:] < 0.0)
            if len(after):
                k = int(after[0])
                found.append(_root(switch.function, at, float(grid[k]), float(grid[k + 1])))
        return min(found) if found else None


def _root(condition: Callable[..., float], at: Callable[[float], Any], begin: float, end: float) -> float:
    def function(time: float) -> float:
        return condition(*at(time))

    if function(begin) * function(end) >= 0.0:  # rounding at an event that has just been handled
        return begin
    return float(brentq(function, begin, end, xtol=1e-15, rtol=1e-15))


class SampledPart(_Part):
    """A law that is evaluated at the sample times and whose outputs are held between them."""

    abilities = Abilities(memory=False)

    def __init__(self, name: str, inputs: Names, outputs: Names, law: Callable[..., Any], period: float) -> None:
        held = [replace(signal, discrete=True) for signal in _signals(outputs)]
        super().__init__(name, inputs, held, period=period)
        self._law = law

    def gains(self) -> Array | None:
        """Outputs are held within a step."""
        return np.zeros((len(self.outputs), len(self.inputs)))

    def start(self, t: float, inputs: Array) -> None:
        super().start(t, inputs)
        self.settle(inputs)

    def try_inputs(self, inputs: Array) -> Array:
        self.settle(inputs)
        return self.outputs_now()

    def settle(self, inputs: Array) -> None:
        super().settle(inputs)
        self._x = np.array(self._law(self._t, self._u), dtype=float)

    def outputs_now(self) -> Array:
        return self._x

    def slopes_now(self, input_slopes: Array) -> Array:
        return np.zeros_like(self._x)

    def advance(self, t: float, h: float, courses: Array) -> tuple[float, bool]:
        self._t = t + h
        self.settle(polynomials.ends(courses))
        return t + h, True
