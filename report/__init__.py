"""Reports: pages, tables, figures."""
