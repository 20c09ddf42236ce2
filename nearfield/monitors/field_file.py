"""The file of its own to which a snapshot monitor's fields go while the run goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import PositiveNumber, Whole
from nearfield.entry.schema import Schema
from nearfield.entry.triples import triple
from nearfield.grid.yee import AXES
from nearfield.records.records import HALF

if TYPE_CHECKING:
    from nearfield.formats.description import FieldDescription
    from nearfield.grid.yee import YeeGrid
    from nearfield.records.records import Variables
    from nearfield.records.regions import Region

SUFFIXES = {"hdf5": ".h5", "vtkhdf": ".vtkhdf", "binary": ".bin", "ascii": ".txt"}


class FieldFile(Schema):
    """A file of a monitor's own, written by another process while the run goes on; memory holds a few snapshots.

    It holds the whole region, also where planes of symmetry halve what is stepped. Complex fields are stored as two
    components `Ex_re` and `Ex_im`, which results and `open_fields` join to one.

    >>> import nearfield as nf
    >>> nf.Snapshot("cut", (0, 0, 0), (1e-2, 1e-2, 0), every=20, file=nf.FieldFile(codec="zlib")).file.format
    'hdf5'
    """

    format: Literal["hdf5", "vtkhdf", "binary", "ascii"] = "hdf5"
    """`hdf5`; `vtkhdf`, which ParaView opens; `binary`, a header and numbers; `ascii`, a table with coordinates."""
    codec: str = "none"
    """Of `hdf5` and `vtkhdf`: `none`, `zlib`, `zstd`, `lz4`, `bitshuffle`; with a level as `zstd:3`."""
    precision: Literal["half", "single", "double"] | None = None
    """Of the numbers stored; left out, the run's."""
    absolute_error: PositiveNumber | None = None
    """Digits below this (V/m, A/m) may be rounded away, which compresses better. Not with a `precision` below the
    run's, whose rounding alone may be more."""
    relative_error: PositiveNumber | None = None
    """Or: below this part of each value, the rounding of a run in double precision to `single` included."""
    positions: Literal["yee", "cells"] | None = None
    """Each component on its own Yee positions, or all averaged to the cell centres; left out: `cells` where the format
    needs that (`vtkhdf`, `ascii`), else `yee`."""
    sample_every: Annotated[Whole, Field(ge=1)] = 1
    """Keep every so many samples along each axis."""
    per_domain: bool = False
    """One file for each rank, joined by one more, instead of one file; where ranks run on several hosts always so, but
    with `positions="cells"` or `sample_every`."""

    @model_validator(mode="after")
    def _storable(self) -> FieldFile:
        from nearfield.formats.description import of_points

        of_points(triple([np.empty(0)] * 3), 0, **self.storage("single"))  # refuses what does not go together
        if self.positions == "yee" and self.at_cells(None):
            raise ValueError(f'format {self.format!r} needs all components at the same points; positions = "cells"')
        if self.per_domain and self.needs_whole:
            raise ValueError("files of domains hold Yee positions as they are; leave positions and sample_every out")
        return self

    def at_cells(self, positions: str | None) -> bool:
        """Whether components are averaged to the cell centres, at these wished positions."""
        return positions == "cells" or (positions is None and self.format in ("vtkhdf", "ascii"))

    @property
    def averaged(self) -> bool:
        """Whether components are averaged to the cell centres."""
        return self.at_cells(self.positions)

    @property
    def needs_whole(self) -> bool:
        """Whether what it holds depends on samples beside each other: means at cell centres, every n-th of them."""
        return self.averaged or self.sample_every > 1

    def storage(self, precision: str) -> dict[str, Any]:
        """Format, precision, codec and bound of a `FieldDescription`. Error: what does not exist or go together."""
        from nearfield.formats.bounds import Bound, narrowing_error
        from nearfield.formats.codecs import Codec
        from nearfield.formats.description import PRECISIONS

        lossy = self.absolute_error is not None or self.relative_error is not None
        bound = Bound(self.absolute_error, self.relative_error) if lossy else None
        numbers = self.precision or precision
        spent = narrowing_error(PRECISIONS[precision], PRECISIONS[numbers])
        fits = numbers == "single" and self.relative_error is not None and self.relative_error > spent
        if bound is not None and spent and not fits:
            raise ModelError(
                f"precision {numbers!r} and an error bound ({bound}): rounding the numbers of a run in {precision} "
                f"precision to {numbers} alone moves each by up to {spent:.2g} of it, "
                f"more where they are very small or large; give the bound alone, or precision {numbers!r} alone"
            )
        return {"format": self.format, "precision": numbers, "codec": Codec.parse(self.codec), "bound": bound}

    def description(
        self,
        grid: YeeGrid,
        regions: Mapping[str, Region],
        positions: Variables,
        snapshots: int,
        precision: str,
        title: str,
    ) -> FieldDescription:
        """The description of a file of these regions, with these coordinates of nodes and half nodes."""
        from nearfield.formats.description import of_points, of_regions

        storage = self.storage(precision) | {"title": title}
        if self.averaged:
            axes = ((positions[axis].array, positions[axis + HALF].array) for axis in AXES)
            lines = triple((nodes if nodes.size == 1 else halves)[:: self.sample_every] for nodes, halves in axes)
            return of_points(lines, snapshots, tuple(regions), **storage)
        return of_regions(grid, regions, snapshots, **storage).thinned(self.sample_every)
