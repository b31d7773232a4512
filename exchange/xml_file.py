"""Reading of XML files from sources that may be malicious.

Document type declarations are rejected, because they define entities. An entity can expand without
limit or read other files.
"""

from __future__ import annotations

import re
from pathlib import Path

from lxml import etree

from ..core.errors import DescriptionError
from ..core.input_files import read_text

# An XML file may have at most this size, bytes; a humanoid robot with hands needs only 0.2 MB.
_LARGEST = 20_000_000
# This expression finds a document type before the root element; the quantifier `*+` prevents slow backtracking.
_DOCUMENT_TYPE = re.compile(r"(?>\s+|<!--.*?-->|<\?.*?\?>)*+<!DOCTYPE", re.DOTALL)


def read_xml(path: Path) -> etree._Element:
    """Return the root element of an XML file; all elements have line numbers.

    Raises
    ------
    DescriptionError
        If the file cannot be read, is not valid XML, or contains a document type.
    """
    text = read_text(path, _LARGEST)
    if _DOCUMENT_TYPE.match(text):
        raise DescriptionError(
            str(path), "has a document type (<!DOCTYPE …>), which may define entities; remove it"
        )
    # lxml rejects strings with an encoding declaration, but accepts bytes.
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
    except ValueError as error:  # lxml raises a ValueError for control characters.
        raise DescriptionError(str(path), f"is not valid XML: {error}") from None
    return root
