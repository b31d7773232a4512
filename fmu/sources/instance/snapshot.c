/* Copies an instance's state out and in. What depends on the importer (callbacks, names) is not part of it. */

#include "snapshot.h"

#include "calls.h"

#include <stdlib.h>
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

static bool matches(Model *model, const Snapshot *snapshot) {
    if (snapshot->fingerprint == fingerprint(model)) return true;
    return model_fail(model, "the state is not one of %s (token %s) as %s", equations.identifier, equations.token,
                      model->co_simulation ? "co-simulation" : "model exchange");
}

static Snapshot *allocate(Model *model) {
    Snapshot *snapshot = malloc(snapshot_size());
    if (snapshot == NULL) model_fail(model, "there are no %lu bytes of memory", (unsigned long)snapshot_size());
    return snapshot;
}

bool snapshot_get(Model *model, void **state) {
    if (!expect_pointer(model, "FMUstate", state) || (*state != NULL && !matches(model, *state))) return false;
    Snapshot *snapshot = *state != NULL ? *state : allocate(model);
    if (snapshot == NULL) return false;
    snapshot->fingerprint = fingerprint(model);
    snapshot->run = model->run;
    memcpy(snapshot->workspace, model->workspace, workspace_bytes());
    *state = snapshot;
    return true;
}

bool snapshot_set(Model *model, const void *state) {
    const Snapshot *snapshot = state;
    if (!expect_pointer(model, "FMUstate", state) || !matches(model, snapshot)) return false;
    model->run = snapshot->run;
    memcpy(model->workspace, snapshot->workspace, workspace_bytes());
    return true;
}

static bool expect_bytes(Model *model, const void *bytes, size_t size) {
    if (size != snapshot_size())
        return model_fail(model, "size is %lu bytes, expected %lu", (unsigned long)size,
                          (unsigned long)snapshot_size());
    return expect_pointer(model, "serializedState", bytes);
}

bool snapshot_write(Model *model, const void *state, void *bytes, size_t size) {
    if (!expect_pointer(model, "FMUstate", state) || !expect_bytes(model, bytes, size)) return false;
    memcpy(bytes, state, size);
    return true;
}

/* *state may hold anything: the standard does not say that it is NULL before. */
bool snapshot_read(Model *model, const void *bytes, size_t size, void **state) {
    if (!expect_pointer(model, "FMUstate", state) || !expect_bytes(model, bytes, size)) return false;
    Snapshot *snapshot = allocate(model);
    if (snapshot == NULL) return false;
    memcpy(snapshot, bytes, size);
    if (matches(model, snapshot)) {
        *state = snapshot;
        return true;
    }
    free(snapshot);
    return false;
}
