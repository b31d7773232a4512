"""Parts of an FMU's archive besides sources and binaries: description, pages, pictures, licences."""
