/* Copies an instance's state out and in. What depends on the importer (callbacks, names) is not part of it. */

#include "snapshot.h"

#include <string.h>

static size_t workspace_bytes(void) { return (size_t)equations.workspace_size * sizeof(double); }

size_t snapshot_size(void) { return sizeof(Snapshot) + workspace_bytes(); }

/* FNV-1a (Fowler, Noll, Vo), 64 bits. */
static uint64_t hash(uint64_t value, const char *text) {
    for (; *text != '\0'; text++) value = (value ^ (unsigned char)*text) * 1099511628211u;
    return value;
}

static uint64_t fingerprint(const Model *model) {
    uint64_t value = hash(14695981039346656037u, equations.identifier);
    value = hash(value, equations.token);
    value = hash(value, model->co_simulation ? "co-simulation" : "model exchange");
    return value ^ snapshot_size();
}

void snapshot_take(const Model *model, Snapshot *snapshot) {
    snapshot->fingerprint = fingerprint(model);
    snapshot->run = model->run;
    memcpy(snapshot->workspace, model->workspace, workspace_bytes());
}

bool snapshot_matches(Model *model, const Snapshot *snapshot) {
    if (snapshot->fingerprint == fingerprint(model)) return true;
    return model_fail(model, "the state is not one of %s (token %s) as %s", equations.identifier, equations.token,
                      model->co_simulation ? "co-simulation" : "model exchange");
}

bool snapshot_restore(Model *model, const Snapshot *snapshot) {
    if (!snapshot_matches(model, snapshot)) return false;
    model->run = snapshot->run;
    memcpy(model->workspace, snapshot->workspace, workspace_bytes());
    return true;
}
