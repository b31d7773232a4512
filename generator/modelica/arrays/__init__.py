"""Arrays and loops: equal things gathered from the definitions of a program."""
