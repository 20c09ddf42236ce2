"""The viewer: a model in three dimensions, in one page of HTML, and as files of triangles."""
