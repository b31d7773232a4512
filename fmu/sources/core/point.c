/* The point of an evaluation: where a model stands, and under which switches: first those of time events, then those
   of relations. */

#include "point.h"

#include "inputs.h"
#include "table.h"

#include <float.h>
#include <math.h>
#include <string.h>

void model_move(Model *model, double time, const double *states) {
    model->workspace[equations.blocks.time] = time;
    if (equations.n_states > 0)
        memcpy(model->workspace + equations.blocks.states, states, (size_t)equations.n_states * sizeof *states);
    inputs_follow(model, time);
    model_changed(model, AFTER_POINT);
}

bool model_set_time(Model *model, double time) {
    double *current = model->workspace + equations.blocks.time;
    if (!isfinite(time)) return model_fail(model, "the time is %g, expected a finite number", time);
    if (time != *current) model_changed(model, AFTER_POINT);
    *current = time;
    return true;
}

bool model_set_states(Model *model, const double *states) {
    double *current = model->workspace + equations.blocks.states;
    for (int i = 0; i < equations.n_states; i++)
        if (!isfinite(states[i]))
            return model_fail(model, "%s is set to %g, expected a finite number", variable_name(VARIABLE_STATE, i),
                              states[i]);
    bool moved = false;
    for (int i = 0; i < equations.n_states; i++) {
        moved |= states[i] != current[i];
        current[i] = states[i];
    }
    if (moved) model_changed(model, AFTER_POINT);
    return true;
}

static int n_times(void) { return equations.n_switches - equations.n_relations; }

static const double *times_of(const Model *model) { return model->workspace + equations.blocks.event_times; }

static double *switches_of(const Model *model) { return model->workspace + equations.blocks.switches; }

static double *relations_of(const Model *model) { return switches_of(model) + n_times(); }

static double time_of(const Model *model) { return model->workspace[equations.blocks.time]; }

/* ---- Time events ------------------------------------------------------------------------------------------------ */

/* Event times within rounding of the present have come: an importer may land a bit short of them. */
static bool has_come(double event, double time) {
    return isfinite(event) && time >= event - 1e-12 * fmax(1.0, fabs(event));
}

static bool set(Model *model, double *value, bool now) {
    if (*value == now) return false;
    *value = now;
    model_changed(model, AFTER_POINT);
    return true;
}

void switches_follow_time(Model *model) {
    for (int k = 0; k < n_times(); k++)
        set(model, switches_of(model) + k, has_come(times_of(model)[k], time_of(model)));
}

double switches_next_time(const Model *model) {
    const double *events = times_of(model), time = time_of(model);
    double next = INFINITY;
    for (int k = 0; k < n_times(); k++)
        if (isfinite(events[k]) && !has_come(events[k], time)) next = fmin(next, events[k]);
    return next;
}

/* ---- Relations -------------------------------------------------------------------------------------------------- */

static bool is_beyond(const Model *model, int k) {
    const double indicator = model->workspace[equations.blocks.indicators + k];
    return relations_of(model)[k] != 0.0 ? indicator < 0.0 : indicator > 0.0;
}

bool switches_are_due(const Model *model) {
    for (int k = 0; k < n_times(); k++)
        if (switches_of(model)[k] == 0.0 && has_come(times_of(model)[k], time_of(model))) return true;
    return relations_are_due(model);
}

bool relations_are_due(const Model *model) {
    for (int k = 0; k < equations.n_relations; k++)
        if (is_beyond(model, k)) return true;
    return false;
}

int switches_follow_states(Model *model) {
    int changed = -1;
    for (int k = 0; k < equations.n_relations; k++)
        if (is_beyond(model, k) && set(model, relations_of(model) + k, relations_of(model)[k] == 0.0)) changed = k;
    return changed;
}

void switches_indicators(const Model *model, double *indicators) {
    for (int k = 0; k < equations.n_relations; k++) {
        const double value = model->workspace[equations.blocks.indicators + k];
        indicators[k] = value != 0.0 ? value : relations_of(model)[k] != 0.0 ? DBL_MIN : -DBL_MIN;
    }
}
