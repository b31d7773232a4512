"""Live preview of a description: a local page that shows the mechanism and follows every save of the file."""

from .serving import view as view
