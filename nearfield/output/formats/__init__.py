"""Field files: snapshots written block by block while a run goes on, and read again, in several formats."""

from nearfield.output.formats.bounds import Bound
from nearfield.output.formats.codecs import Codec
from nearfield.output.formats.description import Block, Component, FieldDescription, of_points, of_regions
from nearfield.output.formats.files import FieldFile, open_field_file
from nearfield.output.formats.layout import DomainFiles, boxes_of
from nearfield.output.formats.paraview import write_xdmf
from nearfield.output.formats.reading import StoredFields, open_fields, stored_fields
from nearfield.output.formats.sizes import PredictedSize, predicted_size, refuse_full_disk

__all__ = [
    "Block",
    "Bound",
    "Codec",
    "Component",
    "DomainFiles",
    "FieldDescription",
    "FieldFile",
    "PredictedSize",
    "StoredFields",
    "boxes_of",
    "of_points",
    "of_regions",
    "open_field_file",
    "open_fields",
    "predicted_size",
    "refuse_full_disk",
    "stored_fields",
    "write_xdmf",
]
