/* The state of an instance as one piece of memory: to keep, to restore, to write to a file. */

#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include "model.h"

#include <stddef.h>

/* Holds no pointers: its bytes mean the same in another process of the same binary. */
typedef struct {
    uint64_t fingerprint; /* of the model, the kind of instance and the size */
    uint64_t checksum;    /* of what follows, in bytes that are written out; 0 in memory */
    RunState run;
    double workspace[];
} Snapshot;

size_t snapshot_size(void); /* bytes, the same for all instances */

/* What the importers' functions do with it. On failure they leave a message and change nothing. */
bool snapshot_get(Model *model, void **state);        /* into *state, a snapshot; NULL: into a new one */
bool snapshot_set(Model *model, const void *state);   /* fails for another model's */
bool snapshot_write(Model *model, const void *state, void *bytes, size_t size);
bool snapshot_read(Model *model, const void *bytes, size_t size, void **state); /* always a new one */

#endif
