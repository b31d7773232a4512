"""What is asked of one model beside its runs: many of them, and what it is near one state; commands and Python."""
