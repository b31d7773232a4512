"""An XML file that somebody gives, read without document types and entities, which grow or read other files."""

from __future__ import annotations

import re
from pathlib import Path

from lxml import etree

from ..core.errors import DescriptionError
from ..core.input_files import read_text

_LARGEST = 20_000_000  # bytes; a humanoid with hands has 0.2 MB
# what may stand before the root element; possessive, so that no text takes long
_DOCUMENT_TYPE = re.compile(r"(?>\s+|<!--.*?-->|<\?.*?\?>)*+<!DOCTYPE", re.DOTALL)


def read_xml(path: Path) -> etree._Element:
    """Root element of an XML file; its elements know their lines.

    Raises DescriptionError where it cannot be read, is no XML, or has a document type, which entities come from.
    """
    text = read_text(path, _LARGEST)
    if _DOCUMENT_TYPE.match(text):
        raise DescriptionError(
            str(path), "has a document type (<!DOCTYPE …>), which may define entities; take it out"
        )
    # bytes, for text must not say its encoding; what it says does not count either
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(text.encode("utf-8"), parser)
    except etree.XMLSyntaxError as error:
        raise DescriptionError(str(path), f"is not valid XML: {error.msg}") from None
    except ValueError as error:  # control characters
        raise DescriptionError(str(path), f"is not valid XML: {error}") from None
    return root
