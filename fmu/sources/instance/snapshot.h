/* FMU state in a single block of memory, to be stored, restored and serialised. */

#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include "model.h"

#include <stddef.h>

/* FMU state without pointers: its bytes are valid in another process of the same binary. */
typedef struct {
    uint64_t fingerprint; /* hash of the model, the kind of instance and the size */
    uint64_t checksum;    /* checksum of the following bytes in serialised states; 0 in memory */
    RunState run;
    double workspace[];
} Snapshot;

size_t snapshot_size(void); /* bytes, the same for all instances */

/* Functions for the FMI calls on the FMU state. On failure they store a message and change nothing. */
bool snapshot_get(Model *model, void **state);        /* copies to *state; NULL: creates a new state */
bool snapshot_set(Model *model, const void *state);   /* fails for a state of another model */
bool snapshot_write(Model *model, const void *state, void *bytes, size_t size);
bool snapshot_read(Model *model, const void *bytes, size_t size, void **state); /* always creates a new state */

#endif
