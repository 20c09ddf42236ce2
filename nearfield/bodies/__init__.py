"""Where matter is: shapes, and files of bodies (triangles, layouts, voxels)."""
