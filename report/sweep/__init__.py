"""Page of a sweep."""
