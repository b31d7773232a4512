/* The point of an evaluation: where a model stands, and which switches that has set. */

#include "point.h"

#include "inputs.h"
#include "table.h"

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

/* Event times within rounding of the present have come: an importer may land a bit short of them. */
static bool has_come(double event, double time) {
    return isfinite(event) && time >= event - 1e-12 * fmax(1.0, fabs(event));
}

void model_update_switches(Model *model) {
    const double *events = model->workspace + equations.blocks.event_times;
    double *switches = model->workspace + equations.blocks.switches;
    for (int k = 0; k < equations.n_switches; k++) {
        const double now = has_come(events[k], model->workspace[equations.blocks.time]) ? 1.0 : 0.0;
        if (now != switches[k]) model_changed(model, AFTER_POINT);
        switches[k] = now;
    }
}

bool model_event_is_due(const Model *model) {
    const double *events = model->workspace + equations.blocks.event_times;
    const double *switches = model->workspace + equations.blocks.switches;
    for (int k = 0; k < equations.n_switches; k++)
        if (switches[k] == 0.0 && has_come(events[k], model->workspace[equations.blocks.time])) return true;
    return false;
}

double model_next_event(const Model *model) {
    const double *events = model->workspace + equations.blocks.event_times;
    const double time = model->workspace[equations.blocks.time];
    double next = INFINITY;
    for (int k = 0; k < equations.n_switches; k++)
        if (isfinite(events[k]) && !has_come(events[k], time)) next = fmin(next, events[k]);
    return next;
}
