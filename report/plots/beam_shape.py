"""Functions that compute the shape of a flexible link from the frames of its rigid finite elements."""

from __future__ import annotations

import numpy as np

from ...core.trajectory import Array
from ...description.fields.numbers import value_of
from ...mechanism import Mechanism


def flexible_links(mechanism: Mechanism) -> list[str]:
    """Return the names of all links that consist of several rigid finite elements."""
    return list(dict.fromkeys(c.owner for c in mechanism.coordinates if c.role == "elastic"))


def beam_shape(mechanism: Mechanism, frames: Array, link: str) -> Array:
    """Return the end positions of the rigid finite elements of a flexible link, m.

    The result has shape (elements + 1, 3).

    The positions are in the frame of the first element, whose x axis is the undeformed beam.

    Parameters
    ----------
    mechanism
        Mechanism whose parameters have numerical values.
    frames
        Frames of all bodies, shape (bodies, 4, 4), world frame, m.
    link
        Name of the link.
    """
    own = [k for k, body in enumerate(mechanism.bodies) if body.link == link]
    starts = element_starts(mechanism, link)
    beam = next(entry.beam for entry in mechanism.chain.links if entry.name == link)
    assert beam is not None
    end = frames[own[-1]] @ [value_of(beam.length) - starts[-1], 0.0, 0.0, 1.0]
    nodes = np.vstack([frames[own, :, 3], end])
    return np.asarray((np.linalg.inv(frames[own[0]]) @ nodes.T).T[:, :3])


def element_starts(mechanism: Mechanism, link: str) -> Array:
    """Return the positions along the undeformed link at which its rigid finite elements begin, m.

    The result has shape (elements,).
    """
    own = [body for body in mechanism.bodies if body.link == link]
    return np.cumsum([0.0, *(float(np.asarray(body.offset)[0]) for body in own[1:])])
