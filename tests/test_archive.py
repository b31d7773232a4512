"""An FMU's archive besides its binaries: documentation, pictures, licences, sources that rebuild, its bytes."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path
from xml.sax.saxutils import quoteattr

import fmpy
import pytest
from fmpy.build import build_platform_binary
from fmpy.validation import validate_fmu
from helpers_backends import Compile, Compiled, CompileData, driven, example_model, native_error, pendulum, run_of
from helpers_examples import changed
from test_report import Page

from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import GpmelicaError
from gpmelica.core.zip_archive import build_time, pack
from gpmelica.fmu.archive.validation import validate
from gpmelica.fmu.compilers.binaries import toolchains
from gpmelica.fmu.compilers.platforms import here
from gpmelica.report.fmu_page import documentation
from gpmelica.tasks.build import build_native

PAGE = "documentation/index.html"
LONG = "Kräne und Ärger mit Leerzeichen 起重机 " + "lang " * 30


@pytest.fixture(scope="module")
def both(compile_data: CompileData) -> dict[str, Compiled]:
    """The pendulum's FMU in both versions of the standard."""
    return {fmi: compile_data(pendulum(), fmi, finished=True) for fmi in ("2.0", "3.0")}


# ---- Documentation ----------------------------------------------------------------------------------------------


def _page(compiled: Compiled) -> str:
    return (compiled.folder / PAGE).read_text(encoding="utf-8")


def _variables(text: str) -> list[list[str]]:
    """Rows of the tables of variables: name, unit, start, meaning."""
    cells = Page(text.partition('<section id="variables">')[2].partition("</section>")[0]).cells
    return [cells[k : k + 4] for k in range(0, len(cells), 4)]


@pytest.mark.slow
def test_page_has_every_variable(compile_example: Compile) -> None:
    """Each variable of the FMU is in the tables once, and every element of the page is closed."""
    compiled = compile_example("crane", "rigid_boom", finished=True)
    text = _page(compiled)
    names = [row[0] for row in _variables(text)]
    assert sorted(names) == sorted(v.name for v in compiled.description.modelVariables)


@pytest.mark.slow
def test_page_gives_starts_and_units(both: dict[str, Compiled]) -> None:
    """A variable's row has its unit, start value and meaning."""
    row = ["cart_stiffness", "N/m", "50", "stiffness of the joint spring of cart"]
    assert row in _variables(_page(both["2.0"]))


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_page_needs_nothing_else(both: dict[str, Compiled], fmi: str) -> None:
    """The page refers only to places within itself and to files of the archive, and has its picture in it."""
    compiled = both[fmi]
    text = _page(compiled)
    assert "://" not in text
    assert "<svg" in text
    assert f"FMI {fmi}" in text
    for address in Page(text).links:
        inside = f'id="{address[1:]}"' in text
        assert inside if address.startswith("#") else (compiled.folder / "documentation" / address).is_file()


@pytest.mark.slow
def test_page_explains_the_equations_that_are_there(compile_example: Compile, compile_data: CompileData) -> None:
    """Constraints, their rows and the partition are explained where there are any, and only there."""
    crane = compile_example("crane", "rigid_boom", finished=True)
    cart = compile_data(driven(), finished=True)
    constrained, free = _page(crane), _page(cart)
    assert "GPME" in constrained and "Vᵀ (M(q)" in constrained
    for name in (*crane.model.rows, *crane.model.dependent):
        assert name in constrained
    assert "There are no\nconstraints" in free and "GPME" not in free


@pytest.mark.parametrize(
    ("formulation", "equation", "parameter", "other"),
    [
        ("gpme", "C q̈ = γ − 2α Φ̇ − β² Φ  ", "alpha", "kappa"),
        ("gpme_reduced", "Vᵀ M V q̈_i = ", "kappa", "alpha"),
        ("lagrange", " = Cᵀ λ", "alpha", "kappa"),
    ],
)
def test_page_has_the_form_of_the_equations(formulation: str, equation: str, parameter: str, other: str) -> None:
    """Each formulation is explained by its own equations, and by the parameters that it has."""
    model = assemble_system(changed("four_bar_3d", constraints__formulation=formulation))
    text = documentation.page(model, "2.0", toolchains("2.0"), None)
    assert equation in text
    assert f"<code>{parameter}</code>" in text
    assert f"<code>{other}</code>" not in text


def test_page_has_every_constraint() -> None:
    """Knife edges are listed with place and direction, beside the task and the closures."""
    model = example_model("mobile_robot", "minimum_norm")
    text = documentation.page(model, "2.0", toolchains("2.0"), None)
    table = text[text.index("<h3>Knife edges</h3>") : text.index('<section id="equations">')]
    for edge in model.chain.nonholonomic:
        assert f">{edge.name}<" in table
    assert table.count("<tr>") == 1 + len(model.chain.nonholonomic)


@pytest.mark.parametrize(("fmi", "icon"), [("2.0", "model.png"), ("3.0", "terminalsAndIcons/icon.png")])
def test_pictures_have_the_standard_paths(both: dict[str, Compiled], fmi: str, icon: str) -> None:
    """Icon and diagram are PNG files of more than 100×100 pixels."""
    for path in (icon, "documentation/diagram.png"):
        content = (both[fmi].folder / path).read_bytes()
        assert content.startswith(b"\x89PNG\r\n\x1a\n")
        assert min(int.from_bytes(content[k : k + 4]) for k in (16, 20)) > 100


def test_licences(both: dict[str, Compiled]) -> None:
    """license.txt names the files beside it, and gpmelica's own licence is among them."""
    folder = both["2.0"].folder / "documentation" / "licenses"
    start = (folder / "license.txt").read_text(encoding="utf-8")
    beside = {path.name for path in folder.iterdir()} - {"license.txt"}
    assert set(re.findall(r"[\w-]+\.txt", start)) == beside
    own = (Path(__file__).parents[1] / "LICENSE").read_text(encoding="utf-8")
    assert (folder / "gpmelica.txt").read_text(encoding="utf-8") == own


# ---- Sources ----------------------------------------------------------------------------------------------------


def _agrees(compiled: Compiled, fmu: Path) -> bool:
    return native_error(compiled.model, fmu, seed=41, count=5) <= 1e-9


def _packed(folder: Path, fmu: Path) -> Path:
    content = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    fmu.write_bytes(pack(content))
    return fmu


@pytest.mark.slow
def test_command_of_the_page_rebuilds(both: dict[str, Compiled], tmp_path: Path) -> None:
    """The command that the page gives builds the library from the sources alone, in a folder of any name."""
    if shutil.which("cc") is None:
        pytest.skip("there is no cc")
    compiled = both["2.0"]
    folder = tmp_path / "neu gebaut"
    shutil.copytree(compiled.folder, folder)
    shutil.rmtree(folder / "binaries")
    (folder / "binaries" / here("2.0").name).mkdir(parents=True)
    found = re.search(r'<pre id="rebuild-here">(.*?)</pre>', _page(compiled), re.DOTALL)
    assert found is not None
    subprocess.run(html.unescape(found[1]), shell=True, check=True, cwd=folder / "sources")
    assert _agrees(compiled, _packed(folder, tmp_path / "rebuilt.fmu"))


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [pytest.param("2.0", marks=pytest.mark.campaign), "3.0"])
def test_fmpy_rebuilds(both: dict[str, Compiled], tmp_path: Path, fmi: str) -> None:
    """FMPy's own build of source FMUs, with CMake, makes a library that agrees."""
    if shutil.which("cmake") is None or shutil.which("cc") is None:
        pytest.skip("there is no cmake or no cc")
    compiled = both[fmi]
    folder = tmp_path / "unpacked"
    shutil.copytree(compiled.folder, folder)
    shutil.rmtree(folder / "binaries")
    (tmp_path / "build").mkdir()
    build_platform_binary(folder, tmp_path / "build")
    fmu = _packed(folder, tmp_path / "rebuilt.fmu")
    assert fmpy.supported_platforms(str(fmu))
    assert validate(fmu) == []
    known, rebuilt = (run_of(replace(compiled, fmu=path), stop=0.6) for path in (compiled.fmu, fmu))
    assert rebuilt.signals["rod_angle"] == pytest.approx(known.signals["rod_angle"], abs=1e-9)


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_standard_headers_are_apart(both: dict[str, Compiled], fmi: str) -> None:
    """An importer's own headers come first: the standard's are in a folder that only our command looks into."""
    sources = both[fmi].folder / "sources"
    assert not list(sources.glob("fmi?Functions.h"))
    assert len(list((sources / "include").iterdir())) == 3
    foreign = "fmi3" if fmi == "2.0" else "fmi2"
    assert not [path for path in sources.rglob("*") if path.name.startswith(foreign)]


# ---- The archive itself -----------------------------------------------------------------------------------------


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of any letters and a long name, where temporary files are, too."""
    folder = tmp_path / LONG.strip() / LONG.strip()
    folder.mkdir(parents=True)
    assert len(str(folder)) > 300
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_anew")
@pytest.mark.parametrize("fmi", ["2.0", pytest.param("3.0", marks=pytest.mark.campaign)])
def test_same_description_same_bytes(
    both: dict[str, Compiled], monkeypatch: pytest.MonkeyPatch, elsewhere: Path, fmi: str
) -> None:
    """Compiled again elsewhere, only the date differs, and SOURCE_DATE_EPOCH gives that; so it runs alike."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    again = build_native(both[fmi].model, elsewhere, fmi=fmi).path
    with zipfile.ZipFile(both[fmi].fmu) as before, zipfile.ZipFile(again) as after:
        assert before.namelist() == after.namelist() == sorted(after.namelist())
        assert {entry.date_time for entry in after.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        differing = [name for name in after.namelist() if before.read(name) != after.read(name)]
        old, new = (archive.read("modelDescription.xml") for archive in (before, after))
    date = b'generationDateAndTime="2001-09-09T01:46:40Z"'
    assert date in new
    assert differing == ["modelDescription.xml"]
    assert re.sub(rb'generationDateAndTime="[^"]*"', date, old) == new
    _runs_as(both[fmi].fmu, again, "CoSimulation")


def _runs_as(expected: Path, fmu: Path, kind: str) -> None:
    """Unpacked beside itself, it moves to the last bit as the other one."""
    unpacked = fmpy.extract(str(fmu), str(fmu.parent / "entpackt ü"))
    strange, plain = (
        fmpy.simulate_fmu(path, fmi_type=kind, stop_time=0.6, relative_tolerance=1e-8, output=["rod_angle"])
        for path in (unpacked, str(expected))
    )
    assert strange["time"][-1] == 0.6
    assert strange.tolist() == plain.tolist()


def test_bad_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A SOURCE_DATE_EPOCH that is no number of seconds is named with its value."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(GpmelicaError, match=r"SOURCE_DATE_EPOCH: expected seconds since 1970.*, got 'yesterday'"):
        build_time()


def test_any_importer_can_unpack(both: dict[str, Compiled]) -> None:
    """Entries are deflated, need no newer unpacker than 2.0, and have plain relative names (FMI 3.0, 2.5.1)."""
    with zipfile.ZipFile(both["3.0"].fmu) as archive:
        for entry in archive.infolist():
            assert entry.compress_type == zipfile.ZIP_DEFLATED
            assert entry.extract_version <= 20
            assert re.fullmatch(r"[\w./-]+", entry.filename, re.ASCII)
            assert not entry.filename.startswith("/")


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_paths_of_any_kind(both: dict[str, Compiled], elsewhere: Path, fmi: str) -> None:
    """Unpacked to and run from folders with spaces, other alphabets and long names."""
    shutil.copy(both[fmi].fmu, elsewhere / "copied file.fmu")
    _runs_as(both[fmi].fmu, elsewhere / "copied file.fmu", "ModelExchange")


# ---- The check of FMUs is FMPy's, names included ----------------------------------------------------------------


RIGHT = "a|_|a1|A_b.c|a.b.c|a[1]|a[1,2]|a[1].b[2,3]|der(a)|der(a,2)|der(a.b[1])|der(a.'x y')|'a b'|'a'.b|'f(x)=~2'"
WRONG = "1a|a.|.a|a..b|a[]|a[b]|a[1|ä|a-b|a/b|der(a|der()|der(der(a))|der(a,)|der(a,b)|''|'a|derr(a)|a[1]b|'a'b"


def test_names_by_fmpys_grammar(tmp_path: Path) -> None:
    """Each one alone is right or wrong as FMPy's parser has it, which takes long."""
    names = [*RIGHT.split("|"), *WRONG.split("|")]
    variables = "".join(
        f'<ScalarVariable name={quoteattr(name)} valueReference="{k}" causality="local"><Real/></ScalarVariable>'
        for k, name in enumerate(names)
    )
    text = (
        '<fmiModelDescription fmiVersion="2.0" modelName="m" guid="g" variableNamingConvention="structured">'
        f'<ModelExchange modelIdentifier="m"/><ModelVariables>{variables}</ModelVariables><ModelStructure/>'
        "</fmiModelDescription>"
    )
    (tmp_path / "modelDescription.xml").write_text(text, encoding="utf-8")
    ours, theirs = (
        {name for name in names for text in found if text.startswith(f'"{name}" (line')}
        for found in (validate(tmp_path), validate_fmu(str(tmp_path)))
    )
    assert ours == theirs == set(WRONG.split("|"))
