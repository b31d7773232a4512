"""Checks of a description as a whole: unknown names, cycles of parents and name clashes."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from ..core.errors import Problem
from ..language import constants, expressions
from ..language.ir import Expr
from ..language.suggest import alternatives, unknown
from . import circles, driving
from .circles import names_in
from .draft import Draft
from .elements import ELEMENTS
from .fields.elements import Command, Reference
from .messages import dotted
from .references import References, axes_for
from .table_uses import file_problems, use_problems
from .tables.chain import Description
from .tables.line import OWN_NAMES, Followed
from .tables.task import Motion
from .types.joints import JOINT_TYPES


def problems_of(draft: Draft) -> list[Problem]:
    """Return a problem for each inconsistency between two or more tables of a description."""
    names = References(draft)
    found = [
        *_clashes(draft, names),
        *file_problems(draft),
        *_parents(draft, names),
        *_known("link", draft.texts("points", "link"), names.bodies),
        *_programmed(draft, names),
        *_motions(draft, names),
        *_known("link", draft.texts("nonholonomic", "link"), names.bodies[1:]),
        *_known("link", draft.texts("closures", "a", "link"), names.bodies),
        *_known("link", draft.texts("closures", "b", "link"), names.bodies),
        *_forces(draft, names),
        *_lines(draft, names),
        *_known("link", draft.texts("contacts", "link"), names.bodies[1:]),
        *_elements(draft, names),
        *driving.problems(draft, names),
        *_settings(draft, names),
        *([] if draft.faulty else _whole(draft.chain, names)),
    ]
    return list(dict.fromkeys(found))


def constraint_rows(chain: Description) -> list[str]:
    """Return the names of all constraint equations of a description.

    Equations of programmed constraints come first. Equations of joint motions, knife edges and loop
    closures follow. If the base is rigid, its six equations come last.
    """
    programmed = [row for entry in chain.tasks for row in entry.rows]
    edges = [row for edge in chain.nonholonomic for row in edge.rows]
    closures = [row for closure in chain.closures for row in closure.rows]
    return [*programmed, *edges, *closures, *_base_rows(chain)]


def _known(what: str, named: Iterable[tuple[str, str]], known: Sequence[str]) -> Iterator[Problem]:
    """Yield a problem for each unknown name.

    The argument `named` contains pairs. The first element of a pair is a key path. The second element
    is the name at this path.
    """
    return (Problem(where, unknown(what, name, known)) for where, name in named if name not in known)


def _base_rows(chain: Description) -> list[str]:
    fixed = chain.base is not None and chain.base.support == "rigid"
    return [f"base_{motion.coordinate}" for motion in JOINT_TYPES["free"] if fixed]


def _clashes(draft: Draft, names: References) -> Iterator[Problem]:
    for key in ("links", "closures", "forces", "lines", "contacts", *ELEMENTS, "cases"):
        yield from _repeated(draft.names(key))
    yield from _folded(draft.names("cases"))
    # Only the first closure of each name is kept; another check reports duplicate names.
    closures = {entry.name: (where, entry) for where, entry in reversed([*draft.entries("closures")])}
    tasks = [entry for key in ("programmed", "motions", "nonholonomic") for entry in draft.entries(key)]
    entries = [*tasks, *reversed(closures.values())]
    rows = [(where, row) for where, entry in entries for row in entry.rows]
    yield from _repeated([*(("base", row) for row in _base_rows(draft.chain)), *rows])
    for where, name in draft.names("links"):
        if name == "base":
            yield Problem(f"{where}.name", "'base' means the table [base]; choose another name")
    for where, name in draft.names("points"):
        if name == "base" or name in names.all_links:
            yield Problem(where, f"a link or the base is also called {name!r}; rename one of them")


def _repeated(named: Iterable[tuple[str, str]]) -> Iterator[Problem]:
    first: dict[str, str] = {}
    for where, name in named:
        if name in first:
            yield Problem(f"{where}.name", f"the name {name!r} is taken by {first[name]}; names must be unique")
        first.setdefault(name, where)


def _folded(named: Iterable[tuple[str, str]]) -> Iterator[Problem]:
    """Yield a problem for each pair of names that differ only in upper and lower case.

    Names become folders, and some file systems ignore case.
    """
    first: dict[str, tuple[str, str]] = {}
    for where, name in named:
        other, known = first.setdefault(name.casefold(), (where, name))
        if known != name:
            text = f"{name!r} differs from {known!r} of {other} in case only; both name a folder: rename one"
            yield Problem(f"{where}.name", text)


def _parents(draft: Draft, names: References) -> Iterator[Problem]:
    """Yield a problem for each unknown parent and for each cycle of parents.

    Links with faults in other keys are checked as well.
    """
    called = dict(draft.names("links"))
    texts = draft.texts("links", "parent")
    given = [(where, called.get(where.removesuffix(".parent"), ""), parent) for where, parent in texts]
    parents = {name: parent for _, name, parent in reversed(given) if name not in ("", "ground", "base")}
    reported: set[str] = set()
    for where, name, parent in given:
        if parent not in names.bodies:
            yield Problem(where, unknown("link", parent, names.bodies))
        elif parents.get(name) == parent and name not in reported:
            cycle = _cycle(name, parents)
            reported |= set(cycle)
            if cycle:
                ring = " → ".join([*cycle, name])
                yield Problem(where, f"the parents {ring} form a cycle; links must form a tree")


def _cycle(name: str, parents: Mapping[str, str]) -> list[str]:
    """Return the cycle of parents that contains the link `name`; empty if there is none."""
    seen, parent = [name], parents[name]
    while parent in parents and parent not in seen:
        seen.append(parent)
        parent = parents[parent]
    return seen if parent == name else []


def _programmed(draft: Draft, names: References) -> Iterator[Problem]:
    yield from _known("point", draft.texts("programmed", "path", "point"), names.points)
    for where, entry in draft.entries("programmed"):
        if entry.path is not None and entry.path.orientations is not None:
            yield from _with_axes(entry.path.point, f"{where}.path.orientations", names)
        if entry.expression is not None:
            key = f"{where}.expression"
            smooth = max(1, 2 - entry.order)
            found = list(
                _expression(entry.expression, key, draft, names, entry.order, continuous=smooth, kinematic=True)
            )
            yield from found or _order(entry.expression, entry.order, where, names)
        if entry.order == 2 and draft.chain.constraints.formulation == "gpme_reduced":
            yield Problem(
                f"{where}.order",
                'order = 2 cannot be combined with formulation = "gpme_reduced": a constraint on accelerations'
                ' leaves no velocity to eliminate; use "gpme" or "lagrange"',
            )
    yield from _of_faulty("programmed", "expression", draft, names)


def _motions(draft: Draft, names: References) -> Iterator[Problem]:
    for where, joint in draft.texts("motions", "joint"):
        yield from _force_joint(joint, where, names)
    for where, text in draft.texts("motions", "position"):
        found = list(_expression(text, where, draft, names, continuous=2))
        yield from found or _of_time(text, where, names)

    for where, motion in draft.entries("motions"):
        yield from _at_rest(motion, where, names)
    yield from _input_clashes(draft)


def _at_rest(motion: Motion, where: str, names: References) -> Iterator[Problem]:
    """Yield a problem for a driven joint with an input filter if its initial velocity is not zero.

    The filter has zero velocity initially.
    """
    owner, _, key = motion.joint.partition(".")
    if not motion.input or owner not in names.links:
        return
    joint = names.links[owner].joint
    keys = [elementary.coordinate for elementary in JOINT_TYPES[joint.type]]
    velocity = dict(zip(keys, joint.values("velocity"), strict=True)).get(key or keys[0], 0.0) if keys else 0.0
    if velocity:
        text = f"the input filter starts at rest; expected the initial velocity 0 of the joint, got {velocity:g}"
        yield Problem(f"{where}.joint", text)


def _input_clashes(draft: Draft) -> Iterator[Problem]:
    """Yield a problem for each filter input that has the same name as another FMU input."""
    taken = {motion.name: where for where, motion in draft.entries("motions") if motion.input}
    taken |= {force.name: where for where, force in draft.entries("forces")}
    taken |= {line.name: where for where, line in draft.entries("lines")}
    for key, table in ELEMENTS.items():
        for where, name in draft.names(key):
            taken |= {f"{name}_{command}": where for command in table.marked(Command)}
    for where, line in draft.entries("lines"):
        if isinstance(line.rest, Followed):
            name = line.rest.input
            if name in taken:
                text = f"the input {name!r} is taken by {taken[name]}; names must be unique"
                yield Problem(f"{where}.rest.input", text)
            taken[name] = f"{where}.rest"


def _of_time(text: str, where: str, names: References) -> Iterator[Problem]:
    for name in dict.fromkeys(expressions.running_names(expressions.parse(text))):
        if "." in name or name in names.measured:
            message = f"expected an expression of t and parameters, got {name!r}; use [[programmed]] instead"
            yield Problem(where, message)


def _with_axes(point: str, where: str, names: References) -> Iterator[Problem]:
    if point in names.points and point not in names.framed:
        yield Problem(where, f"point {point} has no axes of its own; {axes_for(point)}")


def _of_faulty(key: str, part: str, draft: Draft, names: References) -> Iterator[Problem]:
    """Yield problems of the expressions in invalid list members.

    These members were already rejected because of another key.
    """
    sound = {where for where, _ in draft.entries(key)}
    for where, text in draft.texts(key, part):
        if where.removesuffix(f".{part}") not in sound:
            task = key == "programmed"
            yield from _expression(text, where, draft, names, 2, continuous=int(task), kinematic=task)


_LEVELS = ("position", "velocity", "acceleration")
_PLURALS = ("positions", "velocities", "accelerations")


def _order(text: str, order: int, where: str, names: References) -> Iterator[Problem]:
    tree = expressions.renamed(expressions.parse(text), names.measured)
    moving = {name for name in expressions.running_names(tree) if "." in name}
    if not moving:
        yield Problem(f"{where}.expression", "expected at least one point or coordinate that moves")
        return
    highest = max(map(expressions.level, moving))
    if highest > order:
        yield Problem(f"{where}.order", f"the expression has {_PLURALS[highest]}; set order = {highest}")
    elif highest < order:
        article = "an" if order == 2 else "a"
        needed = f"order = {order} needs {article} {_LEVELS[order]} in the expression; or set order = {highest}"
        yield Problem(f"{where}.order", needed)
    elif order and expressions.degree(tree, {name for name in moving if expressions.level(name) == order}) > 1:
        needed = f"order = {order}: expected an expression linear in the {_PLURALS[order]}"
        yield Problem(f"{where}.expression", needed)


def _expression(
    text: str | float,
    where: str,
    draft: Draft,
    names: References,
    order: int = 0,
    *,
    continuous: int = 0,
    kinematic: bool = False,
    own: Container[str] = (),
) -> Iterator[Problem]:
    """Yield the problems of one expression.

    Parameters
    ----------
    text
        Expression.
    where
        Path of its key, for messages.
    draft
        Valid parts of the description.
    names
        Names that expressions may use.
    order
        Highest order of time derivatives that the expression may use.
    continuous
        Order of the highest time derivative that must be continuous in lookup tables.
    kinematic
        Whether the expression prescribes a motion, so that forces are inadmissible.
    own
        Additional names that only this expression may use.
    """
    try:
        tree = expressions.parse(text)
        used = dict.fromkeys((name, order) for name in expressions.running_names(tree) if name not in own)
        used |= dict.fromkeys((name, 0) for name in expressions.started_names(tree))
        unknown_names = [names.expression_problem(*use) for use in used]
        constants.check(tree, draft.chain.parameter_values)
    except ValueError as error:
        yield Problem(where, str(error))
    else:
        yield from (Problem(where, message) for message in unknown_names if message)
        yield from use_problems(tree, where, draft, continuous=continuous)
        yield from (Problem(where, message) for message in _forces_in(tree, names, kinematic))
        at_start = (names.measured.get(name, name) for name in expressions.started_names(tree))
        started = [name for name in at_start if expressions.level(name) == 1]
        if started and draft.chain.constraints.formulation == "gpme_reduced":
            text = 'cannot be combined with formulation = "gpme_reduced": velocities are no states'
            yield Problem(where, f"start({started[0]}) {text}")


def _forces_in(tree: Expr, names: References, kinematic: bool) -> Iterator[str]:
    """Yield an error message for each force in an expression that must not depend on forces."""
    for name in dict.fromkeys(filter(names.is_force, expressions.started_names(tree))):
        yield f"start({name}): expected a quantity of positions and velocities, but {name} is {names.kind(name)}"
    if kinematic:
        for name in dict.fromkeys(filter(names.is_force, expressions.running_names(tree))):
            yield (
                f"{name!r} is {names.kind(name)}, but a programmed constraint prescribes a motion; use a length,"
                " rate, gap, point or coordinate, or define the force in [[forces]]"
            )


def _forces(draft: Draft, names: References) -> Iterator[Problem]:
    for where, joint in draft.texts("forces", "joint"):
        yield from _force_joint(joint, where, names)
    yield from _known("link", draft.texts("forces", "link"), names.bodies[1:])
    for where, force in draft.entries("forces"):
        if force.effort is not None:
            yield from _expression(force.effort, f"{where}.effort", draft, names)
        for i, component in enumerate(force.force or ()):
            yield from _expression(component, f"{where}.force[{i}]", draft, names)
    yield from _of_faulty("forces", "effort", draft, names)


def _elements(draft: Draft, names: References) -> Iterator[Problem]:
    """Yield the problems of references and expressions in the tables of force elements.

    References are names of points and joints. Only force elements that are defined in the package
    `laws` are checked.
    """
    for key, table in ELEMENTS.items():
        for part, reference in table.marked(Reference).items():
            found = draft.texts(key, part)
            if reference.to == "point":
                yield from _known("point", found, names.points)
            else:
                yield from (problem for where, joint in found for problem in _force_joint(joint, where, names))
        for part in table.marked(Command):
            for where, text in draft.texts(key, part):
                yield from _expression(text, where, draft, names)


def _lines(draft: Draft, names: References) -> Iterator[Problem]:
    for end in ("a", "b"):
        yield from _known("link", draft.texts("lines", end, "link"), names.bodies)
    for where, text in draft.texts("lines", "rest"):
        yield from _own_expression(text, where, ("t", "pi", *names.parameters), draft, continuous=1)
    for where, text in draft.texts("lines", "force"):
        yield from _expression(text, where, draft, names, own=OWN_NAMES)
        yield from _ambiguous(text, where, names)
    yield from circles.problems(draft, names)


def _ambiguous(text: str, where: str, names: References) -> Iterator[Problem]:
    """Yield a problem if the force expression of a two-point force element uses an ambiguous name.

    In this expression, `length` and `rate` are the length of the element and its time derivative. A
    parameter must not have one of these names.
    """
    for name in OWN_NAMES:
        if name in names.parameters and name in names_in(text):
            yield Problem(
                where,
                f"{name!r} is a predefined name in force expressions of [[lines]], and a parameter has the same"
                " name; rename the parameter",
            )


def _own_expression(
    text: str, where: str, known: Sequence[str], draft: Draft, *, continuous: int
) -> Iterator[Problem]:
    """Yield the problems of an expression that may use only the names in `known`."""
    try:
        tree = expressions.parse(text)
        constants.check(tree, draft.chain.parameter_values)
    except ValueError as error:
        yield Problem(where, str(error))
    else:
        yield from (
            Problem(where, f"unknown name {name!r}; {alternatives(name, known)}")
            for name in dict.fromkeys(expressions.names(tree))
            if name not in known
        )
        yield from use_problems(tree, where, draft, continuous=continuous)


def _force_joint(joint: str, where: str, names: References) -> Iterator[Problem]:
    owner, _, key = joint.partition(".")
    if owner in names.faulty:
        return
    if owner not in names.links:
        yield Problem(where, unknown("link", owner, names.all_links))
        return
    keys = [motion.coordinate for motion in JOINT_TYPES[names.links[owner].joint.type]]
    if not (key in keys or (not key and len(keys) == 1)):
        choice = ", ".join(f"{owner}.{k}" for k in keys) or "a fixed one has none"
        yield Problem(where, f"expected one coordinate of the joint ({choice}), got {joint!r}")


def _settings(draft: Draft, names: References) -> Iterator[Problem]:
    chain = draft.chain
    tasks = [entry.name for entry in chain.tasks]
    for key, what, listed, known in (
        ("statics.locked", "link", chain.statics.locked or (), names.all_links),
        ("simulation.starts_violated", "programmed constraint", chain.simulation.starts_violated, tasks),
        ("outputs.loads", "link", _listed(chain.outputs.loads), names.all_links),
        ("outputs.points", "point", _listed(chain.outputs.points), names.points),
        ("outputs.links", "link", _listed(chain.outputs.links), names.bodies[1:]),
    ):
        yield from _known(what, ((f"{key}[{index}]", name) for index, name in enumerate(listed)), known)
    for name, quantity in chain.outputs.expressions.items():
        where = dotted(["outputs", "expressions", name])
        yield from _expression(quantity.expression, where, draft, names, 2)
    yield from _constraints(draft, names)


def _constraints(draft: Draft, names: References) -> Iterator[Problem]:
    settings = draft.chain.constraints
    for key in ("dependent", "redundant", "actuated"):
        listed = _listed(getattr(settings, key))
        for index, name in enumerate(listed):
            if name in listed[:index]:
                yield Problem(f"constraints.{key}[{index}]", f"the name {name!r} is listed twice")
            else:
                yield from _listed_name(key, name, f"constraints.{key}[{index}]", draft, names)


def _listed_name(key: str, name: str, where: str, draft: Draft, names: References) -> Iterator[Problem]:
    if key == "actuated":
        yield from _force_joint(name, where, names)
    elif key == "redundant":
        rows = constraint_rows(draft.chain)
        # A table of the description with an error may define the constraint, so an unknown name is not reported.
        if name not in rows and not draft.faulty:
            yield Problem(where, unknown("constraint row", name, rows))
    elif name not in names.coordinates and name.partition(".")[0] not in names.faulty:
        yield Problem(where, unknown("coordinate", name, names.coordinates))


def _listed(choice: str | tuple[str, ...]) -> tuple[str, ...]:
    return () if isinstance(choice, str) else choice


def _whole(chain: Description, names: References) -> Iterator[Problem]:
    """Yield problems that can be detected only if all parts of the description are valid."""
    if not names.coordinates:
        yield Problem(
            "links",
            "nothing can move: all joints are fixed, and there is no movable base; add a joint, or a table [base]",
        )
        return
    dependent, redundant = chain.constraints.dependent, chain.constraints.redundant
    rows, listed = len(constraint_rows(chain)) - len(_listed(redundant)), len(_listed(dependent))
    # With a list of redundant equations, `dependent` may have fewer entries than there are other equations.
    wrong = listed > rows or (listed < rows and not isinstance(redundant, str))
    if dependent != "auto" and wrong:
        where = "constraints.dependent"
        yield Problem(
            where, f"expected one coordinate per independent constraint equation, {rows} in all, got {listed}"
        )
