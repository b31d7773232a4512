/* Evaluation of the generated stages: each group is evaluated at most once after a change of its arguments. */

#include "evaluation.h"

#include "point.h"
#include "stage.h"
#include "start.h"
#include "table.h"
#include "vectors.h"

#include <math.h>

static bool all_finite(Model *model, VariableKind kind, int offset, int n) {
    const double *values = model->workspace + offset;
    int i = 0;
    if (are_finite(n, values)) return true;
    while (isfinite(values[i])) i++;
    return model_fail(model, "%s is %g at t = %.15g s, expected a finite number", variable_name(kind, i), values[i],
                      model_time(model));
}

/* After a change of parameters, copies the start states to the states. Parameters can only be set before the run. */
static bool finish_start(Model *model) {
    if (!all_finite(model, VARIABLE_STATE, equations.blocks.start_states, equations.n_states)) return false;
    model_move(model, model_time(model), model->workspace + equations.blocks.start_states);
    switches_follow_time(model);
    samples_begin(model);
    model->run.orientation = 0;
    return true;
}

static bool finish(Model *model, int group) {
    switch (group) {
    case GROUP_PREPARE:
        tables_follow_parameters(model);
        return requirements_hold(model);
    case GROUP_START:
        return finish_start(model);
    case GROUP_DYNAMICS:
        model->run.counters[COUNTER_SOLVER_EVALUATIONS]++;
        return all_finite(model, VARIABLE_DERIVATIVE, equations.blocks.derivatives, equations.n_states);
    case GROUP_OUTPUTS:
        return all_finite(model, VARIABLE_OUTPUT, equations.blocks.outputs, equations.n_outputs);
    default:
        return true;
    }
}

/* Evaluates the remaining results after a stage without a solution, because most event indicators do not need it.
   Returns false. */
static bool compute_others(Model *model, const StageGroup *stages, int next) {
    for (int i = next; i < stages->n_stages; i++) stage_compute(model, &stages->stages[i]);
    return false;
}

static bool run_stages(Model *model, int group) {
    const StageGroup *stages = &equations.groups[group];
    const bool finds = group == GROUP_START && equations.start.n_phases > 0;
    if (finds && !start_find(model)) return false;
    for (int i = finds ? equations.start.n_stages : 0; i < stages->n_stages; i++)
        if (!stage_run(model, &stages->stages[i])) return compute_others(model, stages, i + 1);
    return true;
}

/* Before the run begins, iterates the switching conditions until they agree with the initial state. */
static bool run_initial_dynamics(Model *model) {
    for (int i = 0; i <= equations.n_relations; i++) {
        const bool solved = run_stages(model, GROUP_DYNAMICS);
        if (switches_follow_states(model) < 0) return solved && finish(model, GROUP_DYNAMICS);
    }
    return model_fail(model, "the conditions contradict each other at the start, t = %.15g s", model_time(model));
}

static bool run_group(Model *model, int group) {
    if (group == GROUP_DYNAMICS && (model->run.mode & (MODE_INSTANTIATED | MODE_INITIALIZATION)))
        return run_initial_dynamics(model);
    return run_stages(model, group) && finish(model, group);
}

bool model_evaluate(Model *model, Group last) {
    for (int group = 0; group <= (int)last; group++) {
        const uint32_t bit = 1u << group;
        if (!(model->run.dirty & bit)) continue;
        if (!run_group(model, group)) return false;
        model->run.dirty &= ~bit;
    }
    return true;
}

bool model_evaluate_beside(Model *model, Group group) {
    return model_evaluate(model, GROUP_START) && run_group(model, group);
}

bool model_derivatives(Model *model, double *values) {
    if (!model_evaluate(model, GROUP_DYNAMICS)) return false;
    copy_numbers(equations.n_states, model->workspace + equations.blocks.derivatives, values);
    return true;
}

bool model_are_indices(double *workspace) {
    for (int group = 0; group < N_GROUPS; group++)
        for (int i = 0; i < equations.groups[group].n_stages; i++)
            if (!stage_has_indices(&equations.groups[group].stages[i], workspace)) return false;
    return true;
}
