"""The command line: options, progress and one function per command."""
