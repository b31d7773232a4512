"""Parts that every room uses and that know nothing of mechanisms: errors, files, templates, workers."""
