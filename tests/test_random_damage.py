"""Descriptions broken at random: never an unexpected error."""

from __future__ import annotations

import copy
import datetime
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gpmelica.errors import DescriptionError
from gpmelica.generator.description.load import from_data

JUNK = (
    *(True, 0, -1, 1.5, float("nan"), float("inf"), 10**400, 16**5000, 1e308, 5e-324),
    *("", "E.x", "1 +", "a.b.c", "base", "ground", "lower", "9**9**9", "\x1b[31m", "*", "é" * 100),
    *([], [1.0], [[1]], [[]], ["a"], [{"name": "q"}], [[1.0] * 4] * 4),
    *({}, {"a": 1}, {"": 2}, {"number": 1}, {"name": "upper"}),
    *(datetime.date(2024, 2, 29), datetime.time(1)),
)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Key paths of everything inside."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield (*path, key)
        yield from _paths(member, (*path, key))


DATA = Path(__file__).parent / "data"
FULL = tomllib.loads((DATA / "every_table.toml").read_text(encoding="utf-8"))
for table in FULL["tables"].values():
    table["file"] = str(DATA / table["file"])
PLACES = list(_paths(FULL))
changes = st.tuples(st.sampled_from(PLACES), st.sampled_from(("set", "delete", "add")), st.sampled_from(JUNK))


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.lists(changes, min_size=1, max_size=3))
def test_random_damage(damage: list[tuple[tuple[Any, ...], str, Any]]) -> None:
    """Whatever is broken, the answer is a description or a list of problems, each once and with a reason."""
    data = copy.deepcopy(FULL)
    for path, action, junk in damage:
        _damage(data, path, action, copy.deepcopy(junk))
    try:
        from_data(data)
    except DescriptionError as error:
        assert error.problems
        assert all(problem.message for problem in error.problems)
        assert len(set(error.problems)) == len(error.problems)
        assert "object at 0x" not in str(error)


def _damage(data: Any, path: tuple[Any, ...], action: str, junk: Any) -> None:
    *above, last = path
    try:
        for key in above:
            data = data[key]
        if action == "delete":
            del data[last]
        elif action == "set":
            data[last] = junk
        elif isinstance(data, list):
            data.append(junk)
        else:
            data[str(junk)[:5]] = junk
    except (LookupError, TypeError, ValueError):
        pass  # an earlier change has taken the place away


def test_the_full_one() -> None:
    """What the damage is done to is sound, and gives a value to every key of the whole."""
    assert set(type(from_data(FULL)).model_fields) == {"version", *FULL} - {"schema"}
