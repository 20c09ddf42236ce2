"""Solids from files: closed surfaces of triangles, polygons of a layout, boxes of cells with numbers."""
