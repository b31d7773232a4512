"""Controllers: PI, PID, first-order filters and rate limiters, continuous or sampled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, model_validator

from ..fields.elements import Command, Element, Expression, Quantity
from ..fields.numbers import AnyNumber, Number, Plain, Positive, between, value_of
from ..fields.types import KeyProblem
from ..types.bounds import POSITIVE, SAMPLE_TIME
from ..types.units import known_unit, quotient


@dataclass(frozen=True)
class _Form:
    """Required and optional keys of one type of controller.

    Parameters
    ----------
    required
        Keys that must be given.
    defaults
        Optional keys with their default values; None if the key has no value by default.
    """

    required: tuple[str, ...]
    defaults: Mapping[str, Any]


_SampleTime = Annotated[AnyNumber, between(SAMPLE_TIME)]
_LIMITED = {"setpoint": None, "output_unit": "1", "setpoint_weight": 1.0, "integral_start": 0.0}
_LIMITED |= {"lower": None, "upper": None, "anti_windup_time": None, "sample": None}
_FOLLOWING = {"signal": None, "start": None, "sample": None, "time_constant": None}
_FORMS = {
    "pi": _Form(("measured", "gain", "integral_time"), _LIMITED),
    "pid": _Form(
        ("measured", "gain", "derivative_time"), _LIMITED | {"integral_time": None, "derivative_filter": 10.0}
    ),
    "filter": _Form((), _FOLLOWING),
    "rate_limit": _Form(("rate",), _FOLLOWING),
}
_ALWAYS = ("name", "type", "drives", "unit")


class Controller(Element):
    """Controller whose output can be used in expressions, and can replace an input of the FMU."""

    measures: ClassVar = {"output": Quantity("{output}", "output of controller {name}")}
    details: ClassVar = {
        "unlimited": Quantity("{output}", "output of controller {name} before the limits"),
        "integral": Quantity("{output}", "integral part of controller {name}"),
        "derivative": Quantity("{output}", "derivative part of controller {name}"),
        "lag": Quantity("{unit}", "filtered quantity of controller {name} minus its initial value"),
        "slope": Quantity("{rate}", "slope of the output of controller {name}"),
        "offset": Quantity("{unit}", "output of controller {name} minus its initial value"),
    }

    type: Literal["pi", "pid", "filter", "rate_limit"]
    """`pi`, `pid`: the output keeps the measured quantity at its setpoint; `filter`: first-order low-pass filter
    of a signal; `rate_limit`: the output follows a signal with a limited rate."""
    measured: Annotated[Expression | None, Command("{unit}", "measured quantity of controller {name}")] = None
    """Measured quantity of `pi` and `pid`, in `unit`: an expression, which may use outputs of controllers."""
    setpoint: Annotated[Expression | None, Command("{unit}", "setpoint of controller {name}")] = None
    """Setpoint of `pi` and `pid`, in `unit`: an expression; without this key the FMU's input `<name>_setpoint`."""
    signal: Annotated[Expression | None, Command("{unit}", "input signal of controller {name}")] = None
    """Signal that `filter` and `rate_limit` follow, in `unit`: an expression; without this key the FMU's input
    `<name>_signal`."""
    drives: str | None = None
    """Name of the input that the output replaces: that of a force, motor, line, motion or other controller. The
    FMU no longer has this input."""
    unit: Annotated[str, AfterValidator(known_unit)] = "1"
    """Unit of the measured quantity and its setpoint, or of the signal, in the notation of Modelica."""
    output_unit: Annotated[str, AfterValidator(known_unit)] | None = None
    """Unit of the output of `pi` and `pid`; default `1`."""
    gain: Annotated[Number | None, Quantity("{gain}", "gain of controller {name}")] = None
    """Proportional gain K, in `output_unit` per `unit`; negative if a positive output reduces the measured
    quantity."""
    integral_time: Annotated[Positive | None, Quantity("s", "integral time of controller {name}", POSITIVE)] = None
    """Integral time Ti, s; a `pid` without this key has no integral part."""
    derivative_time: Annotated[
        Positive | None, Quantity("s", "derivative time of controller {name}", POSITIVE)
    ] = None
    """Derivative time Td, s, of `pid`, whose derivative part acts on the measured quantity alone."""
    derivative_filter: Annotated[
        Positive | None, Quantity("1", "derivative filter ratio N of controller {name}", POSITIVE)
    ] = None
    """Ratio N of `pid`, dimensionless: the derivative's filter has the time constant derivative_time/N; default
    10."""
    setpoint_weight: Annotated[Number | None, Quantity("1", "weight of the setpoint of controller {name}")] = None
    """Weight b of the setpoint in the proportional part gain·(b·setpoint − measured), dimensionless; default 1."""
    integral_start: Annotated[Plain | None, Quantity("{output}", "initial integral part of controller {name}")] = (
        None
    )
    """Initial integral part, in `output_unit`; default 0."""
    lower: Annotated[Number | None, Quantity("{output}", "smallest output of controller {name}")] = None
    """Smallest output, in `output_unit`; default: no limit."""
    upper: Annotated[Number | None, Quantity("{output}", "largest output of controller {name}")] = None
    """Largest output, in `output_unit`; default: no limit."""
    anti_windup_time: Annotated[
        Positive | None, Quantity("s", "anti-windup time of controller {name}", POSITIVE)
    ] = None
    """Time Tt in which the integral part follows a limited output (back-calculation), s; default:
    integral_time."""
    time_constant: Annotated[Positive | None, Quantity("s", "time constant of controller {name}", POSITIVE)] = None
    """Time constant T of `filter`, s, and of `rate_limit` while its rate is below the limit. Sampled ones may
    leave it out: the filter then holds the sampled signal."""
    rate: Annotated[
        Positive | None, Quantity("{rate}", "largest rate of the output of controller {name}", POSITIVE)
    ] = None
    """Largest rate of the output of `rate_limit` in both directions, in `unit` per s."""
    start: Annotated[Number | None, Quantity("{unit}", "initial output of controller {name}")] = None
    """Initial output of `filter` and `rate_limit`, in `unit`; default: initial value of the signal, and 0 for an
    input."""
    sample: Annotated[_SampleTime | None, Quantity("s", "sample time of controller {name}", SAMPLE_TIME)] = None
    """Sample time, s, at least 1e-6: the controller acts at 0, sample, 2 sample, … and holds its output in
    between; default: continuous."""

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, given: Any) -> Any:
        """Insert the default values of the keys that this type of controller accepts."""
        form = _FORMS.get(str(given.get("type"))) if isinstance(given, dict) else None
        if form is None:
            return given
        values = {key: value for key, value in form.defaults.items() if value is not None} | given
        if "integral_time" not in given and "integral_start" not in given:
            values.pop("integral_start", None)
        if "signal" in form.defaults and given.get("signal") is None:
            values.setdefault("start", 0.0)
        return values

    @model_validator(mode="after")
    def _one_form(self) -> Controller:
        form = _FORMS[self.type]
        given = [key for key in type(self).model_fields if getattr(self, key) is not None]
        for key in form.required:
            if key not in given:
                raise KeyProblem(
                    key, f'the key is missing; type = "{self.type}" requires {", ".join(form.required)}'
                )
        known = (*_ALWAYS, *form.required, *form.defaults)
        for key in given:
            if key not in known:
                raise KeyProblem(
                    key, f'this key does not belong to type = "{self.type}"; its keys: {", ".join(known[2:])}'
                )
        if "signal" in form.defaults and self.time_constant is None and self.sample is None:
            text = f'the key is missing; type = "{self.type}" requires it unless the key sample is given'
            raise KeyProblem("time_constant", text)
        self._check_integral()
        return self

    def _check_integral(self) -> None:
        limits = self.lower is not None, self.upper is not None
        if all(limits) and not value_of(self.lower or 0.0) < value_of(self.upper or 0.0):
            raise KeyProblem("lower", f"expected a number below upper = {self.upper!r}, got {self.lower!r}")
        for key in ("integral_start", "anti_windup_time"):
            if getattr(self, key) is not None and self.integral_time is None:
                raise KeyProblem(
                    key,
                    "only a controller with integral_time can have this key; add integral_time, or remove the key",
                )
        if self.anti_windup_time is not None and not any(limits):
            text = "requires a limited output; give lower or upper, or remove the key"
            raise KeyProblem("anti_windup_time", text)

    @property
    def commands(self) -> dict[str, Command]:
        """Command signals that this type of controller uses, by key."""
        form = _FORMS[self.type]
        return {key: mark for key, mark in self.marked(Command).items() if key in (*form.required, *form.defaults)}

    @property
    def direct_commands(self) -> tuple[str, ...]:
        """Keys of the command signals with direct feedthrough to the output of the controller.

        All other command signals act on the output only through states.
        """
        return tuple(self.commands) if self.type in ("pi", "pid") or self.sample is not None else ()

    @property
    def sample_key(self) -> str | None:
        """Key whose value is the sample time, s; None for a continuous controller."""
        return None if self.sample is None else "sample"

    @property
    def initial_commands(self) -> tuple[str, ...]:
        """Key of the command signal whose value at t = 0 is the initial value of a filter.

        The result is empty if the controller has no such filter.
        """
        if self.derivative_time is not None:
            return ("measured",)
        return ("signal",) if self.signal is not None and self.start is None else ()

    @property
    def ascending(self) -> tuple[tuple[str, str], ...]:
        """Keys `lower` and `upper` as a pair, in a tuple of pairs.

        The tuple is empty if the description lacks one of the two limits.
        """
        return () if self.lower is None or self.upper is None else (("lower", "upper"),)

    @property
    def drives_input(self) -> str | None:
        """Name of the FMU input that this controller drives; None if the controller drives no input."""
        return self.drives

    @property
    def units(self) -> dict[str, str]:
        """Units of the controller's measured quantity, output, gain and output rate."""
        output = self.unit if self.type in ("filter", "rate_limit") else self.output_unit or "1"
        gain, rate = quotient(output, self.unit), quotient(output, "s")
        return {"unit": self.unit, "output": output, "gain": gain, "rate": rate}
