/* What the importers of the tests say where a call does not do what it should. */

#ifndef EXPECT_H
#define EXPECT_H

#include <stdio.h>

#define EXPECT(condition)                                           \
    do {                                                            \
        if (!(condition)) {                                         \
            printf("line %d: expected %s\n", __LINE__, #condition); \
            return 1;                                               \
        }                                                           \
    } while (0)

#endif
