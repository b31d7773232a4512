"""Adaptation of the repository's documents for the web site.

The site contains the folder `docs`, the README as first page, and all other files to which pages
link. Links in the documents are paths in the repository, so that the links also work on GitHub.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
_OUTSIDE = (
    "examples/**/*.toml",
    "examples/**/*.csv",
    "examples/**/*.py",
    "examples/*.ipynb",
    "benchmarks/*",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
)


def on_startup(**event: object) -> None:
    """Remove folders from the module search path that contain an executable file `gpmelica`.

    Otherwise, mkdocstrings would not find the package.
    """
    del event
    sys.path[:] = [folder for folder in sys.path if not Path(folder, "gpmelica").is_file()]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the README, the examples and other files outside of `docs` to the site.

    Each file has the path that it has in the repository. Only the README has another path: it is the
    first page.
    """
    for path in sorted(path for pattern in _OUTSIDE for path in ROOT.glob(pattern) if path.is_file()):
        place = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, place, abs_src_path=str(path)))
    files.append(File.generated(config, "index.md", abs_src_path=str(ROOT / "README.md")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Convert links to files of the repository into links of the site.

    On the site, the contents of `docs/` are at the top level.
    """
    source = "README.md" if page.file.src_uri == "index.md" else page.file.src_uri
    here = PurePosixPath(source if (ROOT / source).is_file() and source != "index.md" else f"docs/{source}").parent

    def place(link: re.Match[str]) -> str:
        target, _, anchor = link[1].partition("#")
        if "://" in target or not target:
            return link[0]
        path = (ROOT / here / target).resolve().relative_to(ROOT).as_posix().removeprefix("docs/")
        found = "index.md" if path == "README.md" else "benchmarks/README.md" if path == "benchmarks" else path
        up = "../" * page.file.src_uri.count("/")
        return f"]({up}{found}{'#' if anchor else ''}{anchor})"

    return re.sub(r"\]\(([^)\s]+)\)", place, markdown)
