/* What a serialised state may have been through: every byte altered once, and every number replaced by others under a
   checksum that is right. */

#ifndef DAMAGE_H
#define DAMAGE_H

#include "expect.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Restores an instance from bytes and uses it; 0: the bytes were refused, 1: taken. */
typedef int Take(const char *bytes, size_t size);

enum { CHECKSUM = 8, CONTENT = 16 }; /* places in the bytes, as in snapshot.h */

static void seal(char *bytes, size_t size) {
    uint64_t sum = 14695981039346656037u;
    for (size_t i = CONTENT; i < size; i++) sum = (sum ^ (unsigned char)bytes[i]) * 1099511628211u;
    memcpy(bytes + CHECKSUM, &sum, sizeof sum);
}

static int altered_bytes(char *bytes, size_t size, Take *take) {
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (char)(bytes[i] ^ 1 << i % 8);
        EXPECT(!take(bytes, size));
        bytes[i] = (char)(bytes[i] ^ 1 << i % 8);
    }
    EXPECT(!take(bytes, size - 8));
    EXPECT(take(bytes, size));
    return 0;
}

/* Refused or not, nothing may crash; some are refused, others, which are numbers like any, are not. */
static int replaced_numbers(char *bytes, size_t size, Take *take) {
    static const double NUMBERS[] = {-1.0, 0.5, 3.0, 1e3, 1e300, NAN, -INFINITY};
    static const int64_t INTEGERS[] = {0, 1, 2, 3, 4, 7, 8, 16, 64, -1, INT64_MAX};
    enum { N_NUMBERS = sizeof NUMBERS / sizeof *NUMBERS, N_INTEGERS = sizeof INTEGERS / sizeof *INTEGERS };
    int taken = 0, tried = 0;
    char own[8];
    for (size_t i = CONTENT; i < size; i += sizeof own) {
        memcpy(own, bytes + i, sizeof own);
        for (int k = 0; k < N_NUMBERS + N_INTEGERS; k++) {
            const void *other = k < N_NUMBERS ? (const void *)&NUMBERS[k] : &INTEGERS[k - N_NUMBERS];
            memcpy(bytes + i, other, sizeof own);
            seal(bytes, size);
            taken += take(bytes, size);
            tried++;
        }
        memcpy(bytes + i, own, sizeof own);
    }
    seal(bytes, size);
    EXPECT(taken > 100 && taken < tried - 100);
    EXPECT(take(bytes, size));
    return 0;
}

#endif
