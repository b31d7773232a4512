/* Sweeps over the stages, forward for directional derivatives and backward for adjoint derivatives (Griewank and
   Walther, Evaluating Derivatives, chapters 3 and 15). model->changes has the same layout as the workspace: at the
   offset of a value it contains the value's change or adjoint. The values themselves are evaluated first if
   necessary. */

#include "derivatives.h"

#include "evaluation.h"
#include "stage.h"
#include "table.h"
#include "vectors.h"

#include <math.h>
#include <string.h>

static void add(int n, const double *values, double *sum) {
    for (int i = 0; i < n; i++) sum[i] += values[i];
}

/* ---- Sweeps --------------------------------------------------------------------------------------------------- */

static void forward_stages(Model *model, const StageGroup *stages, int first, int end) {
    for (int i = first; i < end; i++) stage_forward(model, &stages->stages[i]);
}

static void backward_stages(Model *model, const StageGroup *stages, int first, int end) {
    for (int i = end; i-- > first;) stage_backward(model, &stages->stages[i]);
}

/* Whether a start state is the value of its start parameter, at least if this parameter has been set. */
static bool is_given(const Model *model, int state) {
    return model->run.start == START_GIVEN || equations.start.given[equations.start.parameters[state]];
}

static double *start_change(Model *model, int state) {
    return model->changes + equations.blocks.start_states + state;
}

static double *given_change(Model *model, int state) {
    return model->changes + equations.blocks.parameters + equations.start.parameters[state];
}

/* Forward sweep over stages that depend on start states: the first stages find the start states, the others use them. */
static void forward_start(Model *model, const StageGroup *stages) {
    const int finding = equations.start.n_stages;
    if (model->run.start != START_GIVEN) forward_stages(model, stages, 0, finding);
    for (int i = 0; i < equations.n_states; i++)
        if (is_given(model, i)) *start_change(model, i) += *given_change(model, i);
    forward_stages(model, stages, finding, stages->n_stages);
}

static void backward_start(Model *model, const StageGroup *stages) {
    const int finding = equations.start.n_stages;
    backward_stages(model, stages, finding, stages->n_stages);
    for (int i = 0; i < equations.n_states; i++)
        if (is_given(model, i)) *given_change(model, i) += *start_change(model, i);
    if (model->run.start != START_GIVEN) backward_stages(model, stages, 0, finding);
}

/* Whether the first stages of a group find the initial state. */
static bool finds_start(int group) { return group == GROUP_START && equations.start.n_phases > 0; }

static void forward_group(Model *model, int group) {
    const StageGroup *stages = &equations.groups[group];
    if (finds_start(group))
        forward_start(model, stages);
    else
        forward_stages(model, stages, 0, stages->n_stages);
}

static void backward_group(Model *model, int group) {
    const StageGroup *stages = &equations.groups[group];
    if (finds_start(group))
        backward_start(model, stages);
    else
        backward_stages(model, stages, 0, stages->n_stages);
}

static void forward_sweep(Model *model, int first, int last) {
    for (int group = first; group <= last; group++) {
        forward_group(model, group);
        if (group == GROUP_START) /* at the initial time, the states are copies of the start states */
            add(equations.n_states, model->changes + equations.blocks.start_states,
                model->changes + equations.blocks.states);
    }
}

static void backward_sweep(Model *model, int first, int last) {
    for (int group = last; group >= first; group--) {
        if (group == GROUP_START)
            add(equations.n_states, model->changes + equations.blocks.states,
                model->changes + equations.blocks.start_states);
        backward_group(model, group);
    }
}

static void clear(Model *model) {
    memset(model->changes, 0, (size_t)equations.workspace_size * sizeof *model->changes);
}

/* ---- By value reference --------------------------------------------------------------------------------------- */

/* Range of groups to sweep over: PREPARE is needed for parameters only, OUTPUTS for outputs only. */
typedef struct {
    int first, last;
} Range;

static bool is_unknown(const Variable *variable) {
    return variable->kind == VARIABLE_STATE || variable->kind == VARIABLE_DERIVATIVE ||
           variable->kind == VARIABLE_OUTPUT || variable->kind == VARIABLE_CORRECTION ||
           variable->kind == VARIABLE_CALCULATED;
}

static bool is_known(const Model *model, const Variable *variable) {
    return variable->kind == VARIABLE_TIME || variable->kind == VARIABLE_STATE || variable->kind == VARIABLE_INPUT ||
           (variable->kind == VARIABLE_PARAMETER && model->run.mode == MODE_INITIALIZATION);
}

static bool check_unknowns(Model *model, const unsigned *references, size_t n, Range *range) {
    for (size_t i = 0; i < n; i++) {
        const Variable *variable = variable_find_real(model, references[i]);
        if (variable == NULL) return false;
        if (!is_unknown(variable))
            return model_fail(model, "%s (value reference %u) is not a state, a derivative or an output: there is "
                              "no derivative of it", variable->name, references[i]);
        if (variable->kind == VARIABLE_OUTPUT) range->last = GROUP_OUTPUTS;
    }
    return true;
}

static bool check_knowns(Model *model, const unsigned *references, size_t n, Range *range) {
    for (size_t i = 0; i < n; i++) {
        const Variable *variable = variable_find_real(model, references[i]);
        if (variable == NULL) return false;
        if (!is_known(model, variable))
            return model_fail(model, "%s (value reference %u) is not the time, a state or an input, nor a parameter "
                              "in initialization mode: no derivative is taken with respect to it", variable->name,
                              references[i]);
        if (variable->kind == VARIABLE_PARAMETER) range->first = GROUP_PREPARE;
    }
    return true;
}

static bool expect_finite(Model *model, const unsigned *references, size_t n, const double *values) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return model_fail(model, "the derivative for %s is %g at t = %.15g s, expected a finite number",
                              equations.variables[references[i]].name, values[i],
                              model_time(model));
    return true;
}

static double *change_of(Model *model, unsigned reference) {
    return model->changes + variable_offset(&equations.variables[reference]);
}

bool model_expect_derivatives(Model *model, const unsigned *unknowns, size_t n_unknowns, const unsigned *knowns,
                              size_t n_knowns) {
    Range range;
    return check_unknowns(model, unknowns, n_unknowns, &range) && check_knowns(model, knowns, n_knowns, &range);
}

static bool begin(Model *model, const unsigned *unknowns, size_t n_unknowns, const unsigned *knowns, size_t n_knowns,
                  Range *range) {
    *range = (Range){GROUP_DYNAMICS, GROUP_DYNAMICS};
    if (!check_unknowns(model, unknowns, n_unknowns, range) || !check_knowns(model, knowns, n_knowns, range) ||
        !model_evaluate(model, (Group)range->last))
        return false;
    clear(model);
    return true;
}

bool model_directional_derivative(Model *model, const unsigned *unknowns, size_t n_unknowns, const unsigned *knowns,
                                  size_t n_knowns, const double *seed, double *sensitivity) {
    Range range;
    if (!begin(model, unknowns, n_unknowns, knowns, n_knowns, &range)) return false;
    for (size_t i = 0; i < n_knowns; i++) *change_of(model, knowns[i]) += seed[i];
    forward_sweep(model, range.first, range.last);
    for (size_t i = 0; i < n_unknowns; i++) sensitivity[i] = *change_of(model, unknowns[i]);
    return expect_finite(model, unknowns, n_unknowns, sensitivity);
}

bool model_adjoint_derivative(Model *model, const unsigned *unknowns, size_t n_unknowns, const unsigned *knowns,
                              size_t n_knowns, const double *seed, double *sensitivity) {
    Range range;
    if (!begin(model, unknowns, n_unknowns, knowns, n_knowns, &range)) return false;
    for (size_t i = 0; i < n_unknowns; i++) *change_of(model, unknowns[i]) += seed[i];
    backward_sweep(model, range.first, range.last);
    for (size_t i = 0; i < n_knowns; i++) sensitivity[i] = *change_of(model, knowns[i]);
    return expect_finite(model, knowns, n_knowns, sensitivity);
}

bool model_output_rates(Model *model, const unsigned *references, size_t n, double *rates) {
    Range range;
    if (!begin(model, references, n, NULL, 0, &range)) return false;
    model->changes[equations.blocks.time] = 1.0;
    copy_numbers(equations.n_states, model->workspace + equations.blocks.derivatives,
                 model->changes + equations.blocks.states);
    forward_sweep(model, range.first, range.last);
    for (size_t i = 0; i < n; i++) rates[i] = *change_of(model, references[i]);
    return expect_finite(model, references, n, rates);
}

/* ---- For the solver ------------------------------------------------------------------------------------------- */

/* Computes a column of the Jacobian: the derivative of DYNAMICS for the seeds in model->changes. */
static bool column(Model *model, double *values) {
    forward_sweep(model, GROUP_DYNAMICS, GROUP_DYNAMICS);
    copy_numbers(equations.n_states, model->changes + equations.blocks.derivatives, values);
    for (int i = 0; i < equations.n_states; i++)
        if (!isfinite(values[i]))
            return model_fail(model, "the Jacobian of %s is %g at t = %.15g s, expected a finite number",
                              variable_name(VARIABLE_DERIVATIVE, i), values[i],
                              model_time(model));
    return true;
}

bool model_jacobian(Model *model, const double *input_rates, double *jacobian, double *slopes) {
    double *states = model->changes + equations.blocks.states, *time = model->changes + equations.blocks.time;
    double *inputs = model->changes + equations.blocks.inputs;
    const size_t n = (size_t)equations.n_states;
    if (!model_evaluate(model, GROUP_DYNAMICS)) return false;
    clear(model);
    *time = 1.0;
    for (int i = 0; i < equations.n_inputs; i++) inputs[i] = input_rates[i];
    if (!column(model, slopes)) return false;
    clear(model);
    for (size_t j = 0; j < n; j++) {
        states[j] = 1.0;
        if (!column(model, jacobian + j * n)) return false;
        states[j] = 0.0;
    }
    return true;
}
