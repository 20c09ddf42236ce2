"""Messages between ranks: states of an engine that lie in the halo of another, edges and corners included.

Other ranks hold the samples of a rank's halo as their own. So a message is an intersection of two boxes: what I own and
another holds. Of a halo of several layers it carries all states that the engine has there.

One layer needs tangential H alone, two components a face. The holder makes E in the layer above as its owner does,
with its psi and circuits, ever since the first step: E reads H at its own index and the one below. The H normal to the
face it makes too, from the E of that layer. The rest of the H there reads E one layer further, which is not held, and
comes from the owner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from nearfield.engines.protocol import Face, Message, Parcel
from nearfield.parallel.halo_sizes import needed
from nearfield.parallel.host_buffer import Faces, HostBuffers, Joined
from nearfield.parallel.part import PlanPart, image_shifts
from nearfield.plan.boxes import Box

Shift = tuple[int, ...]


@dataclass(frozen=True)
class Exchange:
    """The messages to and from another rank; `late`: they take in rows from end to end."""

    rank: int
    out: Parcel | None
    into: Parcel | None
    late: bool


def exchanges(
    message: Callable[[Sequence[Face]], Message],
    part: PlanPart,
    rank: int,
    own: list[Box],
    held: list[Box],
    depth: int,
    buffers: HostBuffers | None = None,
) -> Iterator[Exchange]:
    """The messages between a rank and each other, whose own and held boxes are given; out of `buffers`, if there are.

    `message` makes those of the rank's engine.
    Of a rank that lies beyond the ends of a closed axis, images are held; both sides list them in one order.
    """
    unit, images = part.whole.unit_axis, image_shifts(own[rank], part.whole)

    def common(holder: int, owner: int) -> list[tuple[Box, frozenset[str] | None, Shift]]:
        """Boxes that one holds of another, in the holder's coordinates, what it needs of them, and their shifts."""
        boxes = [(held[holder].intersection(own[owner].moved(shift)), shift) for shift in images]
        return [(box, needed(depth, own[holder].sides(box)), shift) for box, shift in boxes if box]

    def incoming(boxes: Faces) -> Parcel | None:
        faces = [Face(part.here(box), fields) for box, fields in boxes]
        if buffers and faces:  # as buffers pack them, each by itself
            messages = [message([face]) for face in faces]
            buffers.receive(boxes, messages)
            return Joined(messages)
        return message(faces) if faces else None

    def outgoing(boxes: Faces) -> Parcel | None:
        return buffers.message(boxes) if buffers and boxes else incoming(boxes)

    for other in range(len(own)):
        if other == rank:
            continue
        out = outgoing([(box.moved([-n for n in shift]), fields) for box, fields, shift in common(other, rank)])
        into = incoming([(box, fields) for box, fields, _ in common(rank, other)])
        if out or into:
            late = not buffers and own[other].lower[unit] != own[rank].lower[unit]
            yield Exchange(other, out, into, late)
