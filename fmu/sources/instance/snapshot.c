/* Copies of the FMU state. Data of the importer (callbacks, names) are not part of the state.

   A state in memory is trusted, because only the importer can access it. Serialised bytes are checked before they
   become a state: by a checksum, and number by number if a number serves as index or choice. */

#include "snapshot.h"

#include "branch.h"
#include "calls.h"
#include "evaluation.h"
#include "methods.h"
#include "variables.h"
#include "zero_length.h"

#include <stdlib.h>
#include <string.h>

static const char LAYOUT[] = "7"; /* version of the layout, to be changed together with the meaning of any number in
                                     the state */

static const uint64_t EMPTY = 14695981039346656037u;

/* Size of the workspace and of the solver's memory that follows it, bytes. */
static size_t workspace_bytes(void) {
    return ((size_t)equations.workspace_size + integrator_memory()) * sizeof(double);
}

size_t snapshot_size(void) { return sizeof(Snapshot) + workspace_bytes(); }

/* Computes the FNV-1a hash with 64 bits (Fowler, Noll, Vo). */
static uint64_t hash(uint64_t value, const void *bytes, size_t size) {
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++) value = (value ^ byte[i]) * 1099511628211u;
    return value;
}

static uint64_t hash_text(uint64_t value, const char *text) { return hash(value, text, strlen(text)); }

static uint64_t fingerprint(const Model *model) {
    uint64_t value = hash_text(EMPTY, LAYOUT);
    value = hash_text(value, equations.identifier);
    value = hash_text(value, equations.token);
    value = hash_text(value, model->co_simulation ? "co-simulation" : "model exchange");
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
    snapshot->checksum = 0;
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
    model->factored = false;
    branch_forget(model);
    zero_length_forget(model);
    return true;
}

/* ---- Serialisation -------------------------------------------------------------------------------------------- */

static bool expect_bytes(Model *model, const void *bytes, size_t size) {
    if (size != snapshot_size())
        return model_fail(model, "size is %lu bytes, expected %lu", (unsigned long)size,
                          (unsigned long)snapshot_size());
    return expect_pointer(model, "serializedState", bytes);
}

/* Returns the checksum of all bytes after the member `checksum`. */
static uint64_t checksum(const Snapshot *snapshot) {
    return hash(hash(EMPTY, &snapshot->run, sizeof snapshot->run), snapshot->workspace, workspace_bytes());
}

bool snapshot_write(Model *model, const void *state, void *bytes, size_t size) {
    if (!expect_pointer(model, "FMUstate", state) || !expect_bytes(model, bytes, size)) return false;
    const uint64_t sum = checksum(state);
    memcpy(bytes, state, size);
    memcpy((char *)bytes + offsetof(Snapshot, checksum), &sum, sizeof sum); /* the bytes need not be aligned */
    return true;
}

static bool is_mode(const Model *model, uint32_t mode) {
    switch (mode) {
    case MODE_CONTINUOUS_TIME: return !model->co_simulation;
    case MODE_STEP: return model->co_simulation;
    case MODE_INSTANTIATED:
    case MODE_INITIALIZATION:
    case MODE_EVENT:
    case MODE_TERMINATED: return true;
    default: return false;
    }
}

static bool are_settings(const RunState *run) {
    for (int i = 0; i < N_REAL_SETTINGS; i++)
        if (!is_real_setting(run->real_settings[i])) return false;
    for (int i = 0; i < N_INTEGER_SETTINGS; i++)
        if (!is_integer_setting((IntegerSetting)i, run->integer_settings[i])) return false;
    return is_integer_setting(SETTING_SOLVER_METHOD, run->chosen_method);
}

static bool are_counts(const RunState *run) {
    for (int i = 0; i < N_COUNTERS; i++)
        /* further additions must not overflow */
        if (run->counters[i] < 0 || run->counters[i] > INT64_MAX / 2) return false;
    return true;
}

static const char *fault(const Model *model, Snapshot *snapshot) {
    const RunState *run = &snapshot->run;
    if (snapshot->checksum != checksum(snapshot)) return "the checksum is wrong";
    if (!is_mode(model, run->mode) || (run->dirty & ~(uint32_t)AFTER_PARAMETERS)) return "its mode is invalid";
    if (!are_settings(run)) return "a setting of the solver is invalid";
    if (!are_counts(run) || run->orientation < -1 || run->orientation > 1) return "a count is out of range";
    if (run->start < START_GIVEN || run->start > START_FOUND) return "the origin of its start states is invalid";
    if (!model_are_indices(snapshot->workspace)) return "a pivot is out of range";
    return NULL;
}

static bool expect_whole(Model *model, Snapshot *snapshot) {
    if (!matches(model, snapshot)) return false;
    const char *found = fault(model, snapshot);
    snapshot->checksum = 0;
    return found == NULL || model_fail(model, "the serialized state has been damaged: %s", found);
}

/* *state may be uninitialised, because the standard does not require it to be NULL. */
bool snapshot_read(Model *model, const void *bytes, size_t size, void **state) {
    if (!expect_pointer(model, "FMUstate", state) || !expect_bytes(model, bytes, size)) return false;
    Snapshot *snapshot = allocate(model);
    if (snapshot == NULL) return false;
    memcpy(snapshot, bytes, size);
    if (expect_whole(model, snapshot)) {
        *state = snapshot;
        return true;
    }
    free(snapshot);
    return false;
}
