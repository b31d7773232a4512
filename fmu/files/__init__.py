"""Files: written completely or not at all, packed, from templates."""
