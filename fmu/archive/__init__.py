"""What an FMU's archive holds besides sources and binaries: its description, pages, pictures, licences."""
