/* Integrates with the inner solver from event to event up to the communication point, or to the first step beyond it. */

#include "cosimulation.h"

#include "ahead.h"
#include "events.h"
#include "inputs.h"
#include "leap.h"
#include "methods.h"
#include "point.h"
#include "projection.h"
#include "table.h"
#include "vectors.h"
#include "zero_length.h"

#include <math.h>
#include <string.h>

enum { MOST_OUTPUT_STEPS = 5 };

/* Whether two times are equal up to rounding errors; importers compute communication points in different ways. */
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

/* Layout of model->saved. */
typedef struct {
    double *states, *switches, *inputs, *corrections, *memory;
} Saved;

static Saved saved_of(const Model *model) {
    Saved s = {.states = model->saved};
    s.switches = s.states + equations.n_states;
    s.inputs = s.switches + equations.n_switches;
    s.corrections = s.inputs + equations.n_inputs;
    s.memory = s.corrections + projection_levels();
    return s;
}

static void save(Model *model) {
    const Saved s = saved_of(model);
    copy_numbers(equations.n_states, model->workspace + equations.blocks.states, s.states);
    copy_numbers(equations.n_switches, model->workspace + equations.blocks.switches, s.switches);
    copy_numbers(equations.n_inputs, model->workspace + equations.blocks.inputs, s.inputs);
    copy_numbers(projection_levels(), model->workspace + equations.blocks.corrections, s.corrections);
}

/* Saves the solver's memory. This is a separate function because the memory is large, and not changed by
   interpolation. */
static void save_memory(Model *model) { copy_numbers((int)model->memory_size, model->memory, saved_of(model).memory); }

static void go_back(Model *model, double time) {
    const Saved s = saved_of(model);
    model_move(model, time, s.states);
    copy_numbers(equations.n_switches, s.switches, model->workspace + equations.blocks.switches);
    copy_numbers(equations.n_inputs, s.inputs, model->workspace + equations.blocks.inputs);
    copy_numbers(projection_levels(), s.corrections, model->workspace + equations.blocks.corrections);
}

static void go_back_in_memory(Model *model, const RunState *before) {
    copy_numbers((int)model->memory_size, saved_of(model).memory, model->memory);
    model->factored = false;
    model->run.step = before->step;
    model->run.previous_error = before->previous_error;
    model->run.events_since = before->events_since;
    model->run.events = before->events;
}

/* Checks that all states are finite, because a state on which nothing depends could overflow unnoticed. */
static bool check_states(Model *model) {
    const double *states = model->workspace + equations.blocks.states;
    for (int i = 0; i < equations.n_states; i++)
        if (!isfinite(states[i]))
            return model_fail(model, "%s is %g", variable_name(VARIABLE_STATE, i), states[i]);
    return true;
}

static bool begin_after_event(Model *model) {
    return model_handle_event(model) && note_indicators(model) && zero_length_begin(model);
}

/* Maximum step of a solver that passes the end of a communication step. It prevents the solver from missing short
   changes within a few output intervals when the model is at rest. */
static double longest_step(const Model *model, double size, bool passes) {
    const double wanted = model->run.real_settings[SETTING_SOLVER_LONGEST_STEP];
    return passes ? fmin(wanted, fmax(size, MOST_OUTPUT_STEPS * equations.output_step)) : wanted;
}

/* Whether the solver may, and should, pass the end of a communication step of this size. */
static bool can_pass(const Model *model, const Integrator *integrator, double size) {
    const double wished = fmin(model->run.step, longest_step(model, size, true));
    return integrator->polynomial != NULL && wished >= integrator->worth * size;
}

static bool stops_at_event(const Model *model) { return model->stop_at_events && switches_are_due(model); }

/* Completes a communication step; an event may be due within rounding errors. */
static bool complete(Model *model, bool shown) {
    return shown && (stops_at_event(model) || begin_after_event(model));
}

/* Prepares leaps; a planned leap remains planned if the solver continues from its last point. */
static void begin_leaps(Model *model, bool resumed, bool may_pass) {
    if (!resumed || model->leap_at < model_time(model)) model->leap_at = INFINITY;
    model->leap_is_due = false;
    model->no_return_before = may_pass ? -INFINITY : model->inputs_origin;
}

/* Advances to the begin of a planned leap, or to `end`. */
static bool advance(Model *model, const Integrator *integrator, double landing, double limit, int32_t *budget) {
    const double end = fmin(landing, model->leap_at);
    if (!integrator->advance(model, end, fmin(limit, model->leap_at), budget)) return false;
    return !model->leap_is_due || leap_plan(model);
}

/* Advances by the solver, or by a leap if one is due. *used: input the solver, result the method of the last step. */
static bool go_on(Model *model, const Integrator **used, bool passes, bool may_pass, int32_t *budget) {
    const double event = switches_next_time(model), landing = fmin(model->end, event);
    const double farthest = fmax(landing, fmin(model->run.stop_time, event));
    bool leapt;
    if (model_time(model) < model->leap_at) return advance(model, *used, landing, passes ? farthest : landing, budget);
    if (!leap_across(model, may_pass ? farthest : landing, budget, &leapt)) return false;
    if (leapt) *used = &leaping;
    return true;
}

static bool integrate(Model *model, double end, bool may_pass) {
    int32_t budget = model->run.integer_settings[SETTING_SOLVER_MAX_STEPS];
    const bool resumed = ahead_resume(model, end);
    model->run.last_successful_time = model_time(model); /* the solver may have been beyond `end` without success */
    if (resumed && stops_at_event(model)) return true;
    const Integrator *integrator = integrator_of(model);
    const bool passes = may_pass && can_pass(model, integrator, end - model->inputs_origin);
    model->end = end;
    model->longest_step = longest_step(model, end - model->inputs_origin, passes);
    if (!resumed) zero_length_forget(model); /* inputs may have changed forces */
    if (!begin_after_event(model)) return false; /* inputs may have changed switching conditions */
    model->slope = resumed ? ahead_slope(model) : NULL;
    begin_leaps(model, resumed, may_pass);
    while (model_time(model) < model->end) {
        const Integrator *used = integrator;
        if (!go_on(model, &used, passes, may_pass, &budget)) return false;
        if (!check_states(model)) return false;
        if (model_time(model) > end) return complete(model, ahead_leave(model, end, used));
        if (stops_at_event(model)) return true;
        if (!begin_after_event(model)) return false;
    }
    return true;
}

/* Integrates beyond `end` and, if that fails, only to `end`. */
static bool integrate_safely(Model *model, double end, const RunState *before) {
    const double start = model_time(model);
    const bool may_pass = ahead_is_worthwhile(model);
    if (ahead_covers(model, end)) {
        if (complete(model, ahead_show(model, end))) return true;
        go_back(model, start);
    }
    save_memory(model);
    for (int way = may_pass; way >= 0; way--) {
        if (integrate(model, end, way)) return true;
        go_back(model, start);
        go_back_in_memory(model, before);
    }
    return false;
}

bool cosimulation_step(Model *model, double point, double size) {
    const double start = model_time(model);
    const RunState before = model->run;
    char cause[MESSAGE_SIZE];
    inputs_begin_step(model);
    save(model);
    const bool done = integrate_safely(model, point + size, &before);
    inputs_end_step(model, done);
    if (done) return true;
    memcpy(cause, model->message, MESSAGE_SIZE);
    return model_fail(model, "the step from t = %.15g s to %.15g s came to t = %.15g s: %s", start, point + size,
                      model->run.last_successful_time, cause);
}
