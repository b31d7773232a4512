/* The state of an instance as one piece of memory: to keep, to restore, to write to a file. */

#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include "model.h"

#include <stddef.h>

/* Holds no pointers: its bytes mean the same in another process of the same binary. */
typedef struct {
    uint64_t fingerprint; /* of the model, the kind of instance and the size */
    RunState run;
    double workspace[];
} Snapshot;

size_t snapshot_size(void); /* bytes, the same for all instances */
void snapshot_take(const Model *model, Snapshot *snapshot);
bool snapshot_matches(Model *model, const Snapshot *snapshot); /* false, with a message, for another model's */
bool snapshot_restore(Model *model, const Snapshot *snapshot);

#endif
