/* Runs the inner solver from event to event up to the communication point. */

#include "cosimulation.h"

#include "events.h"
#include "inputs.h"
#include "methods.h"
#include "point.h"
#include "projection.h"
#include "table.h"

#include <math.h>
#include <string.h>

/* Importers count communication points in their own way, so that ours may differ by some rounding. */
static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * fmax(1.0, fabs(b)); }

bool cosimulation_check(Model *model, double point, double size) {
    const double time = model_time(model), stop = model->run.stop_time;
    if (!isfinite(point) || !near(point, time))
        return model_fail(model, "the communication point is %.15g s, expected the model's time, %.15g s", point,
                          time);
    if (!isfinite(size) || size <= 0.0)
        return model_fail(model, "the communication step size is %g s, expected a finite number > 0", size);
    if (point + size > stop && !near(point + size, stop))
        return model_fail(model, "the communication step ends at %.15g s, after the stop time, %.15g s",
                          point + size, stop);
    return true;
}

static void copy(double *target, const double *source, int n) {
    if (n > 0) memcpy(target, source, (size_t)n * sizeof *target);
}

static void save(Model *model) {
    double *switches = model->saved + equations.n_states, *inputs = switches + equations.n_switches;
    double *corrections = inputs + equations.n_inputs;
    copy(model->saved, model->workspace + equations.blocks.states, equations.n_states);
    copy(switches, model->workspace + equations.blocks.switches, equations.n_switches);
    copy(inputs, model->workspace + equations.blocks.inputs, equations.n_inputs);
    copy(corrections, model->workspace + equations.blocks.corrections, projection_levels());
    copy(corrections + projection_levels(), model->memory, (int)model->memory_size);
}

static void go_back(Model *model, double time, const RunState *before) {
    const double *switches = model->saved + equations.n_states, *inputs = switches + equations.n_switches;
    const double *corrections = inputs + equations.n_inputs;
    model_move(model, time, model->saved);
    copy(model->workspace + equations.blocks.switches, switches, equations.n_switches);
    copy(model->workspace + equations.blocks.inputs, inputs, equations.n_inputs);
    copy(model->workspace + equations.blocks.corrections, corrections, projection_levels());
    copy(model->memory, corrections + projection_levels(), (int)model->memory_size);
    model->factored = false;
    model->run.step = before->step;
    model->run.previous_error = before->previous_error;
    model->run.events_since = before->events_since;
    model->run.events = before->events;
}

/* A state that nothing depends on can overflow unseen. */
static bool check_states(Model *model) {
    const double *states = model->workspace + equations.blocks.states;
    for (int i = 0; i < equations.n_states; i++)
        if (!isfinite(states[i]))
            return model_fail(model, "%s is %g", variable_name(VARIABLE_STATE, i), states[i]);
    return true;
}

static bool begin_after_event(Model *model) { return model_handle_event(model) && note_indicators(model); }

static bool integrate(Model *model, double end) {
    const Integrator *integrator = integrator_of(model);
    int32_t budget = model->run.integer_settings[SETTING_SOLVER_MAX_STEPS];
    model->end = end;
    if (!begin_after_event(model)) return false; /* inputs may have changed relations */
    while (model_time(model) < model->end) {
        const double landing = fmin(model->end, switches_next_time(model));
        if (!integrator->advance(model, landing, &budget) || !check_states(model)) return false;
        if (model->stop_at_events && switches_are_due(model)) return true;
        if (!begin_after_event(model)) return false;
    }
    return true;
}

bool cosimulation_step(Model *model, double point, double size) {
    const double start = model_time(model);
    const RunState before = model->run;
    char cause[MESSAGE_SIZE];
    save(model);
    inputs_begin_step(model);
    const bool done = integrate(model, point + size);
    inputs_end_step(model, done);
    if (done) return true;
    memcpy(cause, model->message, MESSAGE_SIZE);
    go_back(model, start, &before);
    return model_fail(model, "the step from t = %.15g s to %.15g s came to t = %.15g s: %s", start, point + size,
                      model->run.last_successful_time, cause);
}
