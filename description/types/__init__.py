"""Joint and closure types: a row each."""
