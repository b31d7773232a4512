/* Creation, initialisation and end of an instance. */

#include "life.h"

#include "branch.h"
#include "checks.h"
#include "evaluation.h"
#include "events.h"
#include "methods.h"
#include "point.h"
#include "projection.h"
#include "tree_solve.h"
#include "vectors.h"
#include "zero_length.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Maximum sizes of the scratch memory over all stages. */
typedef struct {
    int w, arg, res, shares;
} Sizes;

static int larger_size(int a, int b) { return a > b ? a : b; }

static void include_derivative(Sizes *sizes, const StageDerivative *derivative) {
    int shares = 0;
    for (int i = 0; i < derivative->n_from; i++) shares += derivative->sizes[i];
    const int seeds = larger_size(derivative->n_from, derivative->n_to);
    sizes->w = larger_size(sizes->w, derivative->n_work);
    sizes->arg = larger_size(sizes->arg, derivative->n_values + seeds);
    sizes->res = larger_size(sizes->res, seeds);
    sizes->shares = larger_size(sizes->shares, shares);
}

static Sizes scratch_sizes(void) {
    Sizes sizes = {0, 0, 0, 0};
    for (int group = 0; group < N_GROUPS; group++)
        for (int i = 0; i < equations.groups[group].n_stages; i++) {
            const Stage *stage = &equations.groups[group].stages[i];
            /* the function and the linear solve use the memory one after the other */
            sizes.w = larger_size(sizes.w, larger_size(stage->n_work, stage->system.n));
            sizes.w = larger_size(sizes.w, TREE_SCRATCH * stage->tree.bodies);
            sizes.arg = larger_size(sizes.arg, stage->n_inputs);
            sizes.res = larger_size(sizes.res, stage->n_outputs);
            if (stage->derivative != NULL) include_derivative(&sizes, stage->derivative);
        }
    return sizes;
}

/* Allocates a single block of memory: doubles first, then types that are no wider, so that each part is aligned. */
static bool allocate(Model *model) {
    const Sizes sizes = scratch_sizes();
    const size_t solver = integrator_scratch(), memory = integrator_memory();
    const size_t saved = (size_t)(equations.n_states + equations.n_switches + equations.n_inputs +
                                  projection_levels()) + memory;
    const size_t indicators = 2 * (size_t)equations.n_relations;
    const size_t projected = 2 * (size_t)equations.n_states, inputs = (size_t)equations.n_inputs;
    const size_t workspace = (size_t)equations.workspace_size, branch = branch_scratch();
    const size_t lengths = zero_length_scratch();
    const size_t doubles = 2 * workspace + memory + solver + saved + indicators + projected + branch + lengths +
                           2 * inputs + (size_t)sizes.shares + (size_t)sizes.w;
    const size_t bytes = doubles * sizeof(double) + (size_t)sizes.arg * sizeof *model->arg +
                         (size_t)sizes.res * sizeof *model->res;
    model->workspace = calloc(1, bytes);
    if (model->workspace == NULL)
        return model_fail(model, "there are no %lu bytes of memory for an instance", (unsigned long)bytes);
    model->memory = model->workspace + workspace;
    model->memory_size = memory;
    model->changes = model->memory + memory;
    model->solver = model->changes + workspace;
    model->saved = model->solver + solver;
    model->indicators = model->saved + saved;
    model->projected = model->indicators + indicators;
    model->branch = model->projected + projected;
    model->lengths = model->branch + branch;
    model->inputs_begin = model->lengths + lengths;
    model->inputs_rates = model->inputs_begin + inputs;
    model->shares = model->inputs_rates + inputs;
    model->w = model->shares + sizes.shares;
    model->arg = (const double **)(model->w + sizes.w);
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

void model_reset(Model *model) {
    memset(model->workspace, 0, ((size_t)equations.workspace_size + model->memory_size) * sizeof *model->workspace);
    model->factored = false;
    model->regularity = model->most_regular = 0.0;
    branch_forget(model);
    zero_length_forget(model);
    copy_numbers(equations.n_parameters, equations.parameters, model->workspace + equations.blocks.parameters);
    copy_numbers(equations.n_inputs, equations.inputs, model->workspace + equations.blocks.inputs);
    RunState start = {.mode = MODE_INSTANTIATED, .dirty = AFTER_PARAMETERS, .stop_time = INFINITY};
    copy_numbers(N_REAL_SETTINGS, equations.real_settings, start.real_settings);
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
    /* the initial-state search requires parameters that may be set later */
    if (!model_evaluate(model, equations.start.n_phases > 0 ? GROUP_PREPARE : GROUP_START)) return false;
    model->run.mode = MODE_INITIALIZATION;
    return true;
}

/* Evaluates the whole model, so that a model that cannot start fails here and not in the first step. Violations of
   the constraints by rounding errors are corrected here or, in model exchange, in the initial event. */
bool model_exit_initialization(Model *model) {
    bool moved;
    if (!model_evaluate(model, GROUP_START) || !model_check_start(model)) return false;
    for (int i = 0; i < projection_levels(); i++) model->workspace[equations.blocks.corrections + i] = 0.0;
    for (int i = 0; i < N_COUNTERS; i++) model->run.counters[i] = 0;
    if (!model_begin_projection(model)) return false;
    if (model->co_simulation && !model_settle(model, &moved)) return false;
    if (model->co_simulation && equations.n_samplers > 0 && !model_handle_event(model)) return false;
    if (!model_evaluate(model, GROUP_OUTPUTS)) return false;
    model->run.counters[COUNTER_SOLVER_EVALUATIONS] = 0;
    model->run.mode = model->co_simulation ? MODE_STEP : MODE_EVENT;
    return true;
}
