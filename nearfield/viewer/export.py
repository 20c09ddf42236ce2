"""The bodies of a model as files of triangles for other programs: glTF (metres), STL (millimetres), VTK (metres)."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.discretization.discretization import grid_of
from nearfield.entry.errors import ModelError
from nearfield.pictures.style import METAL
from nearfield.viewer.media_map import names_of_media
from nearfield.viewer.page import written
from nearfield.viewer.scene import media_colours
from nearfield.viewer.triangles import joined, surface_of

if TYPE_CHECKING:
    from nearfield.discretization.model import Model

TITLE = 250  # characters of the second line of a VTK file
STL_UNIT = 1e3  # of a metre: STL says no unit, and programs take it for millimetres
GLTF_FLOAT, GLTF_WHOLE, GLTF_CORNERS, GLTF_INDEX = 5126, 5125, 34962, 34963  # constants of glTF 2.0
JSON_CHUNK, BINARY_CHUNK = 0x4E4F534A, 0x004E4942


@dataclass(frozen=True)
class Part:
    """One body: its name, its medium and colour, corners (n, 3) in m, triangles (m, 3)."""

    name: str
    medium: str
    colour: str
    corners: np.ndarray
    triangles: np.ndarray


def parts_of(model: Model) -> list[Part]:
    """The bodies of a model that hold something. Error: none does."""
    extent = max(float(line[-1] - line[0]) for line in grid_of(model).lines)
    colours = media_colours(model)
    found = []
    for body, medium in zip(model._bodies, names_of_media(model)[1]):
        name = body.name or f"structure {body.number}"
        corners, triangles = surface_of(body.shape, extent)
        if len(triangles):
            found.append(Part(name, medium, colours[medium][0], corners, triangles))
    if not found:
        why = "nothing is left of its structures" if model.structures else "it has no structures"
        raise ModelError(f"the model has nothing to export: {why}; give one that holds a body")
    return found


def stl(parts: list[Part]) -> bytes:
    """All triangles in one binary STL file, in mm."""
    corners, triangles = joined([(part.corners, part.triangles) for part in parts])
    places = (STL_UNIT * corners)[triangles]
    normals = np.cross(places[:, 1] - places[:, 0], places[:, 2] - places[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    table = np.zeros(len(triangles), np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("extra", "<u2")]))
    table["normal"], table["corners"] = normals / np.where(lengths > 0, lengths, 1.0), places
    return b"Nearfield, millimetres".ljust(80) + struct.pack("<I", len(triangles)) + table.tobytes()


def vtk(parts: list[Part]) -> bytes:
    """All triangles as legacy VTK polydata, in m, with the number of the body and of the medium of each."""
    corners, triangles = joined([(part.corners, part.triangles) for part in parts])
    media = list(dict.fromkeys(part.medium for part in parts))
    title = f"Nearfield, metres; media: {', '.join(media)}"
    counts = [len(part.triangles) for part in parts]
    numbers = {
        "body": np.repeat(np.arange(len(parts)), counts),
        "medium": np.repeat([media.index(part.medium) for part in parts], counts),
    }
    cells = np.column_stack((np.full(len(triangles), 3), triangles)).astype(">i4")
    blocks = [
        b"# vtk DataFile Version 3.0\n" + title.encode("ascii", "replace")[:TITLE] + b"\n",
        f"BINARY\nDATASET POLYDATA\nPOINTS {len(corners)} double\n".encode(),
        corners.astype(">f8").tobytes(),
        f"\nPOLYGONS {len(triangles)} {4 * len(triangles)}\n".encode(),
        cells.tobytes(),
        f"\nCELL_DATA {len(triangles)}\n".encode(),
    ]
    for name, values in numbers.items():
        blocks += [f"SCALARS {name} int 1\nLOOKUP_TABLE default\n".encode(), values.astype(">i4").tobytes(), b"\n"]
    return b"".join(blocks)


def gltf(parts: list[Part]) -> bytes:
    """The bodies as binary glTF 2.0 (.glb), in m: a node each with its name, a material each medium; y is up there."""
    data, views, accessors = bytearray(), [], list[dict[str, Any]]()

    def put(values: np.ndarray, target: int, kind: str, component: int, **more: Any) -> int:
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": values.nbytes, "target": target})
        data.extend(values.tobytes())
        accessors.append({"bufferView": len(views) - 1, "componentType": component, "type": kind, **more})
        return len(accessors) - 1

    media = list(dict.fromkeys((part.medium, part.colour) for part in parts))
    meshes = []
    for part in parts:
        upright = part.corners[:, [0, 2, 1]] * (1.0, 1.0, -1.0)  # z of the model is y of glTF
        corners, index = upright.astype("<f4"), part.triangles.astype("<u4").ravel()
        ends = {"min": corners.min(axis=0).tolist(), "max": corners.max(axis=0).tolist()}
        place = put(corners, GLTF_CORNERS, "VEC3", GLTF_FLOAT, count=len(corners), **ends)
        order = put(index, GLTF_INDEX, "SCALAR", GLTF_WHOLE, count=int(index.size))
        look = media.index((part.medium, part.colour))
        primitive = {"attributes": {"POSITION": place}, "indices": order, "material": look}
        meshes.append({"name": part.name, "primitives": [primitive]})
    content = {
        "asset": {"version": "2.0", "generator": "Nearfield"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(parts)))}],
        "nodes": [{"name": part.name, "mesh": number} for number, part in enumerate(parts)],
        "meshes": meshes,
        "materials": [material(*medium) for medium in media],
        "buffers": [{"byteLength": len(data)}],
        "bufferViews": views,
        "accessors": accessors,
    }
    text = json.dumps(content, ensure_ascii=False).encode()
    chunks = chunk(JSON_CHUNK, text, b" ") + chunk(BINARY_CHUNK, bytes(data), b"\0")
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def material(name: str, colour: str) -> dict[str, Any]:
    """A medium's look, seen from both sides; metal is opaque. glTF wants linear colours."""
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [((part + 0.055) / 1.055) ** 2.4 if part > 0.04045 else part / 12.92 for part in parts]
    metal = colour == METAL
    look = {"baseColorFactor": [*linear, 1.0 if metal else 0.5], "metallicFactor": 0.2 * metal, "roughnessFactor": 0.7}
    mode = {} if metal else {"alphaMode": "BLEND"}
    return {"name": name, "doubleSided": True, "pbrMetallicRoughness": look, **mode}


def chunk(kind: int, content: bytes, blank: bytes) -> bytes:
    """A chunk of a .glb file, filled up to whole fours of bytes."""
    content += blank * (-len(content) % 4)
    return struct.pack("<II", len(content), kind) + content


WRITERS: dict[str, tuple[str, Callable[[list[Part]], bytes]]] = {
    "gltf": (".glb", gltf),
    "stl": (".stl", stl),
    "vtk": (".vtk", vtk),
}


def kind_of(path: Path) -> str:
    """Which kind a file name asks for. Error: none."""
    found = next((kind for kind, (suffix, _) in WRITERS.items() if path.suffix.lower() == suffix), None)
    if found is None:
        raise ModelError(f"{path}: give a file name that ends in {', '.join(suffix for suffix, _ in WRITERS.values())}")
    return found


def export(parts: list[Part], kind: str, path: Path) -> Path:
    """Write the bodies of a model as "gltf", "stl" or "vtk". Error: the file cannot be written."""
    return written(WRITERS[kind][1](parts), path)
