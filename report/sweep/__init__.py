"""Web page with the results of a parameter sweep."""
