"""The check of FMUs is FMPy's, names included."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import quoteattr

from fmpy.validation import validate_fmu

from gpmelica.fmu.runs.validation import validate

RIGHT = "a|_|a1|A_b.c|a.b.c|a[1]|a[1,2]|a[1].b[2,3]|der(a)|der(a,2)|der(a.b[1])|der(a.'x y')|'a b'|'a'.b|'f(x)=~2'"
WRONG = "1a|a.|.a|a..b|a[]|a[b]|a[1|ä|a-b|a/b|der(a|der()|der(der(a))|der(a,)|der(a,b)|''|'a|derr(a)|a[1]b|'a'b"


def test_names_by_fmpys_grammar(tmp_path: Path) -> None:
    """Each one alone is right or wrong as FMPy's parser has it, which takes long."""
    names = [*RIGHT.split("|"), *WRONG.split("|")]
    variables = "".join(
        f'<ScalarVariable name={quoteattr(name)} valueReference="{k}" causality="local"><Real/></ScalarVariable>'
        for k, name in enumerate(names)
    )
    (tmp_path / "modelDescription.xml").write_text(
        '<fmiModelDescription fmiVersion="2.0" modelName="m" guid="g" variableNamingConvention="structured">'
        f'<ModelExchange modelIdentifier="m"/><ModelVariables>{variables}</ModelVariables><ModelStructure/>'
        "</fmiModelDescription>",
        encoding="utf-8",
    )
    ours, theirs = (
        {name for name in names for text in found if text.startswith(f'"{name}" (line')}
        for found in (validate(tmp_path), validate_fmu(str(tmp_path)))
    )
    assert ours == theirs == set(WRONG.split("|"))
