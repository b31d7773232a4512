# For the C of FMUs, for which omc asks CMake's "Release", -O3: gcc takes a quarter longer for that, and evaluations, which
# fetch variables from memory most of the time, are no faster. The environment's flags once more, for they come before.
set(CMAKE_C_FLAGS_RELEASE "-O1 -DNDEBUG $ENV{CFLAGS}" CACHE STRING "")
