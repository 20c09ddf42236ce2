"""Field files: snapshots written block by block while a run goes on, and read again, in several formats."""

from nearfield.formats.bounds import Bound
from nearfield.formats.codecs import Codec
from nearfield.formats.description import Block, Component, FieldDescription, of_points, of_regions
from nearfield.formats.files import FieldFile
from nearfield.formats.layout import DomainFiles, boxes_of
from nearfield.formats.opening import open_field_file
from nearfield.formats.paraview import write_xdmf
from nearfield.formats.reading import StoredFields, open_fields, stored_fields
from nearfield.formats.sizes import PredictedSize, predicted_size, refuse_full_disk

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
