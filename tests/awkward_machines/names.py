"""Names, texts and numbers that Modelica, C, XML or a file system understand in their own way."""

from __future__ import annotations

from .parts import TIP, Table, Y, arm, awkward, link, machine


def _called(name: str) -> Table:
    return machine(link(name, "revolute", Y, velocity=1.0))


def _listed(kind: str, name: str) -> Table:
    return (
        machine(*arm(), points=TIP | {name: TIP["E"]})
        if kind == "points"
        else machine(*arm(), parameters={name: 1.0})
    )


@awkward("refused", "description", "control")
def control_characters() -> Table:
    """XML has no way to write them."""
    return machine(*arm(), description="an arm\x07 with a bell\x00")


@awkward("ok")
def several_lines_and_quotes() -> Table:
    """Text with everything that has to be escaped somewhere."""
    return machine(
        *arm(),
        description='a "quoted" \\ back\\slash,\na second line,\ta tab, <b>&amp;</b>, é, 机, 🦾 %s %d */ //',
    )


@awkward("refused", "parameters.lambda", "reserved", "yield")
def parameter_called_lambda() -> Table:
    """A keyword of the language that expressions are parsed as."""
    return _listed("parameters", "lambda")


@awkward("refused", "points.is", "reserved")
def point_called_is() -> Table:
    """Another one."""
    return _listed("points", "is")


@awkward("refused", "links[0].name", "reserved")
def link_called_real_input() -> Table:
    """A class of the generated text."""
    return _called("RealInput")


@awkward("ok")
def links_called_like_code() -> Table:
    """Links named after sections, C types and functions of the generated C code."""
    names = ["constraints", "accelerations", "double", "dynamics"]
    parents = ["ground", *names]
    return machine(*[link(n, "revolute", Y, parent=parents[k], velocity=1.0) for k, n in enumerate(names)])


@awkward("ok")
def parameters_called_like_c() -> Table:
    """Words of C and of FMI, in an expression."""
    data = _called("arm") | {
        "parameters": {"double": 1.0, "NULL": 2.0, "fmi2GetReal": 3.0, "errno": 4.0, "sizeof": 5.0}
    }
    effort = "double + NULL*fmi2GetReal + errno*sizeof"
    return data | {"forces": [{"name": "int", "joint": "arm", "effort": effort}]}


@awkward("ok")
def model_called_main() -> Table:
    """C's entry point."""
    return _called("arm") | {"name": "main"}


@awkward("refused", "cases[1].name", "case only")
def cases_that_fold_into_one() -> Table:
    """Names of cases that differ in letter case only; many file systems use one folder for both."""
    return machine(*arm()) | {"cases": [{"name": "A"}, {"name": "a"}]}


@awkward("refused", "cases[0].name")
def case_called_con() -> Table:
    """A device of Windows."""
    return machine(*arm()) | {"cases": [{"name": "CON"}]}
