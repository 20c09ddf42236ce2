"""Grid lines, Yee positions, walls, periods, planes of symmetry, the automatic mesher."""
