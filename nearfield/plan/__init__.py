"""Plain arrays that an engine executes, their boxes and sizes."""
