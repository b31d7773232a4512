/* The life of an instance: memory, start values, initialisation, time and time events. */

#include "constrained_solve.h"
#include "integrator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest demands of any stage on the scratch memory. */
typedef struct {
    int w, iw, arg, res;
} Sizes;

static int larger(int a, int b) { return a > b ? a : b; }

static Sizes scratch_sizes(void) {
    Sizes sizes = {0, 0, 0, 0};
    for (int group = 0; group < N_GROUPS; group++)
        for (int i = 0; i < equations.groups[group].n_stages; i++) {
            const Stage *stage = &equations.groups[group].stages[i];
            const ConstrainedSystem *system = &stage->constrained;
            const int doubles = constrained_solve_doubles(system->n, system->m, system->columns);
            sizes.w = larger(sizes.w, larger(stage->sz_w, larger(stage->system.n, doubles))); /* function, then solve */
            sizes.iw = larger(sizes.iw, larger(stage->sz_iw, constrained_solve_integers(system->n)));
            sizes.arg = larger(sizes.arg, stage->sz_arg);
            sizes.res = larger(sizes.res, stage->sz_res);
        }
    return sizes;
}

/* One block for everything: doubles first, then types that are no wider, so that each part is aligned. */
static bool allocate(Model *model) {
    const Sizes sizes = scratch_sizes();
    const size_t solver = (size_t)integrator_vectors() * (size_t)equations.n_states;
    const size_t saved = (size_t)(equations.n_states + equations.n_switches);
    const size_t doubles = (size_t)equations.workspace_size + solver + saved + (size_t)sizes.w;
    const size_t bytes = doubles * sizeof(double) + (size_t)sizes.iw * sizeof *model->iw +
                         (size_t)sizes.arg * sizeof *model->arg + (size_t)sizes.res * sizeof *model->res;
    model->workspace = calloc(1, bytes);
    if (model->workspace == NULL)
        return model_fail(model, "there are no %lu bytes of memory for an instance", (unsigned long)bytes);
    model->solver = model->workspace + equations.workspace_size;
    model->saved = model->solver + solver;
    model->w = model->saved + saved;
    model->iw = (long long int *)(model->w + sizes.w);
    model->arg = (const double **)(model->iw + sizes.iw);
    model->res = (double **)(model->arg + sizes.arg);
    return true;
}

bool model_create(Model *model, bool co_simulation) {
    model->co_simulation = co_simulation;
    if (!allocate(model)) return false;
    model_reset(model);
    return true;
}

void model_destroy(Model *model) { free(model->workspace); }

static void copy(double *target, const double *source, int n) {
    if (n > 0) memcpy(target, source, (size_t)n * sizeof *target);
}

void model_reset(Model *model) {
    memset(model->workspace, 0, (size_t)equations.workspace_size * sizeof *model->workspace);
    copy(model->workspace + equations.blocks.parameters, equations.parameters, equations.n_parameters);
    copy(model->workspace + equations.blocks.inputs, equations.inputs, equations.n_inputs);
    RunState start = {.mode = MODE_INSTANTIATED, .dirty = AFTER_PARAMETERS, .stop_time = INFINITY};
    copy(start.real_settings, equations.real_settings, N_REAL_SETTINGS);
    for (int i = 0; i < N_INTEGER_SETTINGS; i++) start.integer_settings[i] = equations.integer_settings[i];
    start.previous_error = 1.0;
    model->run = start;
}

bool model_set_up(Model *model, double tolerance, double start_time, double stop_time) {
    if (!isfinite(tolerance) || tolerance < 0.0)
        return model_fail(model, "the tolerance is %g, expected a finite number > 0", tolerance);
    if (!isfinite(start_time))
        return model_fail(model, "the start time is %g, expected a finite number", start_time);
    if (!(stop_time > start_time))
        return model_fail(model, "the stop time is %.15g s, expected more than the start time, %.15g s", stop_time,
                          start_time);
    model->run.tolerance = tolerance;
    model->run.start_time = start_time;
    model->run.stop_time = stop_time;
    return true;
}

bool model_enter_initialization(Model *model) {
    model->workspace[equations.blocks.time] = model->run.start_time;
    model->run.last_successful_time = model->run.start_time;
    model_changed(model, AFTER_PARAMETERS);
    if (!model_evaluate(model, GROUP_PREPARE)) return false;
    model->run.mode = MODE_INITIALIZATION;
    return true;
}

/* Evaluates everything once, so that a model that cannot start says so here and not in the first step. */
bool model_exit_initialization(Model *model) {
    if (!model_evaluate(model, GROUP_OUTPUTS)) return false;
    for (int i = 0; i < N_COUNTERS; i++) model->run.counters[i] = 0;
    model->run.mode = model->co_simulation ? MODE_STEP : MODE_EVENT;
    return true;
}

void model_move(Model *model, double time, const double *states) {
    model->workspace[equations.blocks.time] = time;
    copy(model->workspace + equations.blocks.states, states, equations.n_states);
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

double model_next_event(const Model *model) {
    const double *events = model->workspace + equations.blocks.event_times;
    const double time = model->workspace[equations.blocks.time];
    double next = INFINITY;
    for (int k = 0; k < equations.n_switches; k++)
        if (isfinite(events[k]) && !has_come(events[k], time)) next = fmin(next, events[k]);
    return next;
}
