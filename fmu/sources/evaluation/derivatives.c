/* Sweeps over the stages: forward for directional derivatives, backward for adjoint ones (Griewank, Walther:
   Evaluating Derivatives, chapters 3 and 15). model->changes mirrors the workspace: at the offset of a value it holds
   the value's change, or what a change of it is worth. The values themselves are evaluated first, if need be. */

#include "derivatives.h"

#include "evaluation.h"
#include "linear_solve.h"
#include "table.h"

#include <math.h>
#include <string.h>

/* ---- What follows a stage: its system ------------------------------------------------------------------------- */

/* B - A X has changed by the right-hand side's block, which becomes the change of X. */
static void solve_forward(Model *model, const LinearSystem *system) {
    linear_solve_again(system->n, system->columns, model->workspace + system->matrix,
                       model->workspace + system->pivots, model->changes + system->right);
}

/* X is worth what the right-hand side's block says, which becomes what B - A X is worth. */
static void solve_backward(Model *model, const LinearSystem *system) {
    linear_solve_transposed(system->n, system->columns, model->workspace + system->matrix,
                            model->workspace + system->pivots, model->changes + system->right);
}

/* The same for M X - C' L = F and C X = W: F and W have changed by what F - M X + C' L and W - C X have. */
static void constrained_forward(Model *model, const ConstrainedSystem *system) {
    const Constrained blocks = model_constrained(system, model->workspace, model->changes);
    constrained_solve_again(&blocks);
}

static void negate(double *values, int n) {
    for (int i = 0; i < n; i++) values[i] = -values[i];
}

/* X and L are worth what their blocks say, F and W what x and -l of M x - C' l = X, C x = -L are. */
static void constrained_backward(Model *model, const ConstrainedSystem *system) {
    Constrained blocks = model_constrained(system, model->workspace, model->changes);
    double *changes = model->changes, *wanted = changes + system->wanted;
    negate(changes + system->multipliers, system->m * system->columns);
    blocks.F = changes + system->solution;
    blocks.W = changes + system->multipliers;
    blocks.X = changes + system->right;
    blocks.L = wanted;
    constrained_solve_again(&blocks);
    negate(wanted, system->m * system->columns);
}

/* F - M X + C' L and W - C X have changed by what their blocks say. */
static void tree_forward(Model *model, const TreeSystem *system) {
    const TreeRows blocks = model_tree(system, model->workspace, model->changes);
    tree_rows_solve_again(&blocks, model->w);
}

/* As constrained_backward; the blocks of F and W are those of X and L, too. */
static void tree_backward(Model *model, const TreeSystem *system) {
    double *multipliers = model->changes + system->wanted;
    negate(multipliers, system->m * system->columns);
    tree_forward(model, system);
    negate(multipliers, system->m * system->columns);
}

/* ---- One stage ------------------------------------------------------------------------------------------------ */

static int put_values(Model *model, const StageDerivative *derivative) {
    for (int i = 0; i < derivative->n_values; i++) model->arg[i] = model->workspace + derivative->values[i];
    return derivative->n_values;
}

static bool call(Model *model, StageFunction *function) {
    if (function == NULL) return model_fail(model, "the model has no adjoint derivatives");
    function(model->arg, model->res, model->w);
    return true;
}

static bool forward_stage(Model *model, const Stage *stage) {
    const StageDerivative *derivative = stage->derivative;
    const int n = put_values(model, derivative);
    for (int i = 0; i < derivative->n_from; i++) model->arg[n + i] = model->changes + derivative->from[i];
    for (int i = 0; i < derivative->n_to; i++) model->res[i] = model->changes + derivative->to[i];
    if (!call(model, derivative->forward)) return false;
    if (stage->system.n > 0) solve_forward(model, &stage->system);
    if (stage->constrained.n > 0) constrained_forward(model, &stage->constrained);
    if (stage->tree.n > 0) tree_forward(model, &stage->tree);
    return true;
}

static void add(int n, const double *values, double *sum) {
    for (int i = 0; i < n; i++) sum[i] += values[i];
}

static bool backward_stage(Model *model, const Stage *stage) {
    const StageDerivative *derivative = stage->derivative;
    if (stage->system.n > 0) solve_backward(model, &stage->system);
    if (stage->constrained.n > 0) constrained_backward(model, &stage->constrained);
    if (stage->tree.n > 0) tree_backward(model, &stage->tree);
    const int n = put_values(model, derivative);
    for (int i = 0; i < derivative->n_to; i++) model->arg[n + i] = model->changes + derivative->to[i];
    double *share = model->shares;
    for (int i = 0; i < derivative->n_from; share += derivative->sizes[i++]) model->res[i] = share;
    if (!call(model, derivative->reverse)) return false;
    for (int i = 0; i < derivative->n_from; i++)
        add(derivative->sizes[i], model->res[i], model->changes + derivative->from[i]);
    return true;
}

/* ---- Sweeps --------------------------------------------------------------------------------------------------- */

static bool forward_stages(Model *model, const StageGroup *stages, int first, int end) {
    for (int i = first; i < end; i++)
        if (!forward_stage(model, &stages->stages[i])) return false;
    return true;
}

static bool backward_stages(Model *model, const StageGroup *stages, int first, int end) {
    for (int i = end; i-- > first;)
        if (!backward_stage(model, &stages->stages[i])) return false;
    return true;
}

/* Whether a start state is what its parameter says, at least where that is set. */
static bool is_given(const Model *model, int state) {
    return model->run.start == START_GIVEN || equations.start.given[equations.start.parameters[state]];
}

static double *start_change(Model *model, int state) {
    return model->changes + equations.blocks.start_states + state;
}

static double *given_change(Model *model, int state) {
    return model->changes + equations.blocks.parameters + equations.start.parameters[state];
}

/* Where the start states follow the parameters: found by the first stages, if they are, then used by the others. */
static bool forward_start(Model *model, const StageGroup *stages) {
    const int finding = equations.start.n_stages;
    if (model->run.start != START_GIVEN && !forward_stages(model, stages, 0, finding)) return false;
    for (int i = 0; i < equations.n_states; i++)
        if (is_given(model, i)) *start_change(model, i) += *given_change(model, i);
    return forward_stages(model, stages, finding, stages->n_stages);
}

static bool backward_start(Model *model, const StageGroup *stages) {
    const int finding = equations.start.n_stages;
    if (!backward_stages(model, stages, finding, stages->n_stages)) return false;
    for (int i = 0; i < equations.n_states; i++)
        if (is_given(model, i)) *given_change(model, i) += *start_change(model, i);
    return model->run.start == START_GIVEN || backward_stages(model, stages, 0, finding);
}

static bool forward_group(Model *model, int group) {
    const StageGroup *stages = &equations.groups[group];
    const bool follows = group == GROUP_START && equations.start.n_phases > 0;
    return follows ? forward_start(model, stages) : forward_stages(model, stages, 0, stages->n_stages);
}

static bool backward_group(Model *model, int group) {
    const StageGroup *stages = &equations.groups[group];
    const bool follows = group == GROUP_START && equations.start.n_phases > 0;
    return follows ? backward_start(model, stages) : backward_stages(model, stages, 0, stages->n_stages);
}

static bool forward_sweep(Model *model, int first, int last) {
    for (int group = first; group <= last; group++) {
        if (!forward_group(model, group)) return false;
        if (group == GROUP_START) /* the states are a copy of the start states then */
            add(equations.n_states, model->changes + equations.blocks.start_states,
                model->changes + equations.blocks.states);
    }
    return true;
}

static bool backward_sweep(Model *model, int first, int last) {
    for (int group = last; group >= first; group--) {
        if (group == GROUP_START)
            add(equations.n_states, model->changes + equations.blocks.states,
                model->changes + equations.blocks.start_states);
        if (!backward_group(model, group)) return false;
    }
    return true;
}

static void clear(Model *model) {
    memset(model->changes, 0, (size_t)equations.workspace_size * sizeof *model->changes);
}

/* ---- By value reference --------------------------------------------------------------------------------------- */

/* The groups to sweep over: PREPARE for parameters only, OUTPUTS for outputs only. */
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
                              model->workspace[equations.blocks.time]);
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
    if (!forward_sweep(model, range.first, range.last)) return false;
    for (size_t i = 0; i < n_unknowns; i++) sensitivity[i] = *change_of(model, unknowns[i]);
    return expect_finite(model, unknowns, n_unknowns, sensitivity);
}

bool model_adjoint_derivative(Model *model, const unsigned *unknowns, size_t n_unknowns, const unsigned *knowns,
                              size_t n_knowns, const double *seed, double *sensitivity) {
    Range range;
    if (!begin(model, unknowns, n_unknowns, knowns, n_knowns, &range)) return false;
    for (size_t i = 0; i < n_unknowns; i++) *change_of(model, unknowns[i]) += seed[i];
    if (!backward_sweep(model, range.first, range.last)) return false;
    for (size_t i = 0; i < n_knowns; i++) sensitivity[i] = *change_of(model, knowns[i]);
    return expect_finite(model, knowns, n_knowns, sensitivity);
}

bool model_output_rates(Model *model, const unsigned *references, size_t n, double *rates) {
    Range range;
    if (!begin(model, references, n, NULL, 0, &range)) return false;
    model->changes[equations.blocks.time] = 1.0;
    if (equations.n_states > 0)
        memcpy(model->changes + equations.blocks.states, model->workspace + equations.blocks.derivatives,
               (size_t)equations.n_states * sizeof *model->changes);
    if (!forward_sweep(model, range.first, range.last)) return false;
    for (size_t i = 0; i < n; i++) rates[i] = *change_of(model, references[i]);
    return expect_finite(model, references, n, rates);
}

/* ---- For the solver ------------------------------------------------------------------------------------------- */

/* One column: what DYNAMICS makes of the seeds in model->changes. */
static bool column(Model *model, double *values) {
    if (!forward_sweep(model, GROUP_DYNAMICS, GROUP_DYNAMICS)) return false;
    memcpy(values, model->changes + equations.blocks.derivatives, (size_t)equations.n_states * sizeof *values);
    for (int i = 0; i < equations.n_states; i++)
        if (!isfinite(values[i]))
            return model_fail(model, "the Jacobian of %s is %g at t = %.15g s, expected a finite number",
                              variable_name(VARIABLE_DERIVATIVE, i), values[i],
                              model->workspace[equations.blocks.time]);
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
