/* Runs the generated stages: each group at most once after something it depends on has changed. */

#include "evaluation.h"

#include "linear_solve.h"
#include "point.h"
#include "table.h"

#include <math.h>
#include <string.h>

static double time_of(const Model *model) { return model->workspace[equations.blocks.time]; }

/* Dependent velocity per independent one: beyond that half of a double's digits are lost. */
static const double STEEPEST = 1e8;

/* Sign of the determinant, by the factors of A. */
static int32_t orientation(const LinearSystem *system, const double *a, const double *pivots) {
    int32_t sign = 1;
    for (int k = 0; k < system->n; k++) {
        if (a[k * (system->n + 1)] < 0.0) sign = -sign;
        if ((int)pivots[k] != k) sign = -sign;
    }
    return sign;
}

static bool is_steep(const LinearSystem *system, const double *x) {
    for (int i = 0; i < system->n * system->ratios; i++)
        if (!(fabs(x[i]) < STEEPEST)) return true;
    return false;
}

/* A solver steps over a singular point without meeting it, or turns back near it: both lead to another motion. */
static bool check_partition(Model *model, const Stage *stage, const double *a, const double *x, const double *pivots) {
    const int32_t before = model->run.orientation, now = orientation(&stage->system, a, pivots);
    model->run.orientation = before ? before : now;
    if (now == model->run.orientation && !is_steep(&stage->system, x)) return true;
    return model_fail(model, "the constraints cannot be solved for %s all the way to t = %.15g s: the linear system of "
                      "the %s becomes singular; choose other dependent coordinates", stage->coordinates,
                      time_of(model), stage->name);
}

static bool solve(Model *model, const Stage *stage) {
    const LinearSystem *system = &stage->system;
    double *a = model->workspace + system->matrix, *b = model->workspace + system->right;
    double *pivots = model->workspace + system->pivots;
    const int code = linear_solve(system->n, system->columns, a, b, pivots, model->w);
    if (code == LINEAR_SOLVE_OK)
        return !system->partition || check_partition(model, stage, a, b, pivots);
    if (code == LINEAR_SOLVE_NOT_FINITE)
        return model_fail(model, "the linear system of the %s has no finite solution at t = %.15g s "
                          "(coordinates: %s)", stage->name, time_of(model), stage->coordinates);
    return model_fail(model, "the linear system of the %s is singular at t = %.15g s: pivot %d of %d vanishes "
                      "(coordinates: %s)", stage->name, time_of(model), code, system->n, stage->coordinates);
}

Constrained model_constrained(const ConstrainedSystem *system, double *workspace, double *vectors) {
    return (Constrained){.n = system->n, .m = system->m, .columns = system->columns,
                         .M = workspace + system->matrix, .C = workspace + system->jacobian,
                         .F = vectors + system->right, .W = vectors + system->wanted,
                         .X = vectors + system->solution, .L = vectors + system->multipliers,
                         .work = workspace + system->work};
}

static bool fail_dependent(Model *model, const Stage *stage, int m) {
    return model_fail(model, "the %d constraints that the %s are solved with depend on each other at t = %.15g s: "
                      "no choice of dependent coordinates is regular (coordinates: %s)", m, stage->name,
                      time_of(model), stage->coordinates);
}

static bool solve_constrained(Model *model, const Stage *stage) {
    const ConstrainedSystem *system = &stage->constrained;
    const Constrained blocks = model_constrained(system, model->workspace, model->workspace);
    const int code = constrained_solve(&blocks);
    if (code == LINEAR_SOLVE_OK) return true;
    if (code == LINEAR_SOLVE_NOT_FINITE)
        return model_fail(model, "the %s are not finite at t = %.15g s (coordinates: %s)", stage->name,
                          time_of(model), stage->coordinates);
    if (code == CONSTRAINED_SOLVE_DEPENDENT) return fail_dependent(model, stage, system->m);
    return model_fail(model, "the linear system of the %s is singular at t = %.15g s: pivot %d of %d vanishes "
                      "(coordinates: %s)", stage->name, time_of(model), code, system->n - system->m,
                      stage->coordinates);
}

TreeRows model_tree(const TreeSystem *system, double *workspace, double *vectors) {
    const Tree tree = {.n = system->n, .columns = system->columns, .bodies = system->bodies,
                       .parents = system->parents, .ends = system->ends, .motions = system->motions,
                       .axes = workspace + system->axes,
                       .inertias = workspace + system->inertias, .arms = workspace + system->arms,
                       .armatures = workspace + system->armatures, .factors = workspace + system->factors,
                       .X = vectors + system->right};
    return (TreeRows){.tree = tree, .m = system->m, .C = workspace + system->jacobian,
                      .L = vectors + system->wanted, .work = workspace + system->work};
}

static bool solve_tree(Model *model, const Stage *stage) {
    const TreeRows blocks = model_tree(&stage->tree, model->workspace, model->workspace);
    const int code = tree_rows_solve(&blocks, model->w);
    if (code == LINEAR_SOLVE_NOT_FINITE || (code == LINEAR_SOLVE_OK && !tree_is_finite(&blocks.tree)))
        return model_fail(model, "the %s are not finite at t = %.15g s (coordinates: %s)", stage->name,
                          time_of(model), stage->coordinates);
    if (code == LINEAR_SOLVE_OK) return true;
    if (code == CONSTRAINED_SOLVE_DEPENDENT) return fail_dependent(model, stage, blocks.m);
    return model_fail(model, "no inertia resists the motion of coordinate %d of %d at t = %.15g s%s (coordinates: %s)",
                      code, blocks.tree.n, time_of(model),
                      blocks.m > 0 ? "; where constraints hold it, accelerations = \"dense\" solves that" : "",
                      stage->coordinates);
}

static void compute(Model *model, const Stage *stage) {
    for (int i = 0; i < stage->n_inputs; i++) model->arg[i] = model->workspace + stage->inputs[i];
    for (int i = 0; i < stage->n_outputs; i++) model->res[i] = model->workspace + stage->outputs[i];
    stage->function(model->arg, model->res, model->w);
}

static bool run_stage(Model *model, const Stage *stage) {
    compute(model, stage);
    if (stage->constrained.n > 0) return solve_constrained(model, stage);
    if (stage->tree.n > 0) return solve_tree(model, stage);
    return stage->system.n == 0 || solve(model, stage);
}

static bool all_finite(Model *model, VariableKind kind, int offset, int n) {
    const double *values = model->workspace + offset;
    for (int i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return model_fail(model, "%s is %g at t = %.15g s, expected a finite number", variable_name(kind, i),
                              values[i], time_of(model));
    return true;
}

/* ---- The start ------------------------------------------------------------------------------------------------- */

static const int MOST_STEPS = 200;
static const double LONGEST = 0.5;   /* of one step: rad, or in m of what the coordinate is measured in */
static const double SMALLEST = 1e-9; /* of Newton's method: what the next step would change is rounding */
static const int MOST_SPRINGS = 60;  /* that a step is tried with, each stiffer than the one before */
static const double STIFFER = 4.0;
static const double STIFF = 1e4; /* of a spring in place of a loop, by the stiffness */
static const double SOFTEST = 1e-3;  /* of the first one: of what lets the largest force move the longest step */
static const double ROUNDING = 1e-12; /* of a pivot, by what it is the difference of */
static const double INDIFFERENT = 1e-9; /* stiffness, by the largest */
static const double UNMOVED = 1e-14;    /* m or rad: what rounding makes of a position, and the stiffest spring of that a
                                           force, which would move what nothing else holds */

static bool is_set(const Model *model, int parameter) {
    return parameter >= 0 &&
           model->workspace[equations.blocks.parameters + parameter] != equations.parameters[parameter];
}

static StartMode start_mode(const Model *model) {
    StartMode mode = START_DEFAULT;
    if (!model->run.integer_settings[SETTING_SOLVER_FINDS_START]) return START_GIVEN;
    for (int i = 0; i < equations.n_parameters; i++) {
        if (!is_set(model, i)) continue;
        if (equations.start.given[i]) return START_GIVEN;
        mode = START_FOUND;
    }
    return mode;
}

static void begin_phase(Model *model, const Phase *phase) {
    const bool changes = phase->begin >= 0, none = model->run.start == START_DEFAULT;
    const double *found = none ? phase->defaults : phase->initial;
    for (int i = 0; changes && i < phase->n_moved; i++)
        model->workspace[phase->begin + i] = none || is_set(model, phase->parameters[i]) ? 0.0 : phase->initial[i];
    for (int i = 0; i < phase->n_found; i++) model->workspace[phase->found + i] = changes ? 0.0 : found[i];
}

static double largest(int n, const double *values, int *place) {
    double size = 0.0;
    for (int i = 0; i < n; i++)
        if (!(fabs(values[i]) <= size)) {
            size = fabs(values[i]);
            *place = i;
        }
    return size;
}

static bool fail_phase(Model *model, const Phase *phase) {
    int worst = 0;
    const double left = largest(phase->n_left, model->workspace + phase->left, &worst);
    return model_fail(model, "with these parameters no %s is found in %d steps: %.3g is left of %s", phase->what,
                      MOST_STEPS, left, phase->names[worst]);
}

/* By Cholesky's method in its place: a symmetric n x n matrix. */
static bool is_positive_definite(int n, double *a) {
    for (int j = 0; j < n; j++) {
        const double rounding = ROUNDING * fabs(a[j * n + j]);
        for (int k = 0; k < j; k++)
            for (int i = j; i < n; i++) a[j * n + i] -= a[k * n + i] * a[k * n + j];
        const double pivot = a[j * n + j];
        if (!(pivot > rounding)) return false;
        for (int i = j; i < n; i++) a[j * n + i] /= sqrt(pivot);
    }
    return true;
}

static bool fail_stability(Model *model, const Phase *phase) {
    return model_fail(model, "with these parameters the %s next to the one before is not stable: %s and others fall "
                      "away from it", phase->what, phase->names[0]);
}

/* Column `column` of the tangent of what has to vanish, which stands in the right-hand side with the other sign. */
static void differentiate(Model *model, const Phase *phase, const Stage *stage, int column) {
    const StageDerivative *derivative = stage->derivative;
    double *rates = model->workspace + stage->system.matrix + (size_t)column * (size_t)stage->system.n;
    for (int i = 0; i < derivative->n_values; i++) model->arg[i] = model->workspace + derivative->values[i];
    for (int i = 0; i < derivative->n_from; i++) model->arg[derivative->n_values + i] = model->changes + derivative->from[i];
    model->res[0] = rates;
    model->changes[phase->found + column] = 1.0;
    derivative->forward(model->arg, model->res, model->w);
    model->changes[phase->found + column] = 0.0;
    for (int i = 0; i < stage->system.n; i++) rates[i] = -rates[i];
}

/* The stiffness of forces whose tangent is [-K C'; C 0], symmetric, with stiff springs against what opens the loops. */
static void stiffen(Model *model, const Phase *phase, const LinearSystem *system) {
    const int n = phase->n_stiffness, all = system->n;
    const double *A = model->workspace + system->matrix;
    double *K = model->workspace + phase->stiffness, sum = 0.0, squares = 0.0;
    for (int j = 0; j < n; j++) {
        sum += fabs(A[j * all + j]);
        for (int i = n; i < all; i++) squares += A[j * all + i] * A[j * all + i];
    }
    const double spring = squares > 0.0 ? STIFF * sum / squares : 0.0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            double along = 0.0;
            for (int row = n; row < all; row++) along += A[i * all + row] * A[j * all + row];
            K[j * n + i] = -0.5 * (A[j * all + i] + A[i * all + j]) + spring * along;
        }
}

/* What has to vanish, with its tangent where the stage itself has no matrix. */
static void compute_phase(Model *model, const Phase *phase, const Stage *stage) {
    compute(model, stage);
    if (phase->stiffness < 0) return;
    memset(model->changes, 0, (size_t)equations.workspace_size * sizeof *model->changes);
    for (int i = 0; i < stage->system.n; i++) differentiate(model, phase, stage, i);
    stiffen(model, phase, &stage->system);
}

/* A spring on each coordinate that holds it where it is. */
static void hold(Model *model, const Phase *phase, const LinearSystem *system, double spring) {
    for (int i = 0; i < phase->n_stiffness; i++) {
        model->workspace[system->matrix + i * (system->n + 1)] -= spring;
        model->workspace[phase->stiffness + i * (phase->n_stiffness + 1)] += spring;
    }
}

static void add(Model *model, const Phase *phase, const double *step, double factor) {
    for (int i = 0; i < phase->n_found; i++) model->workspace[phase->found + i] += factor * step[i];
}

/* Work of the forces on the coordinates along the step that is tried. */
static double work(const Model *model, const Phase *phase) {
    double sum = 0.0;
    for (int i = 0; i < phase->n_stiffness; i++)
        sum += model->workspace[phase->left + i] * model->workspace[phase->tried + i];
    return sum;
}

/* Adds a step and says so, unless forces at its end oppose it by half the work that they promise before it (Crisfield 1982). */
static bool advance(Model *model, const Phase *phase, const Stage *stage) {
    double *tried = model->workspace + phase->tried;
    memcpy(tried, model->workspace + stage->system.right, (size_t)phase->n_found * sizeof *tried);
    const double promised = work(model, phase);
    add(model, phase, tried, 1.0);
    compute(model, stage);
    if (!(work(model, phase) < -0.5 * promised)) return true;
    add(model, phase, tried, -1.0);
    return false;
}

/* Loops are closed, and forces are no more than so much. */
static bool is_balanced(const Model *model, const Phase *phase, double force) {
    const double *left = model->workspace + phase->left;
    const int n = phase->n_stiffness;
    int place = 0;
    return largest(n, left, &place) < force && largest(phase->n_left - n, left + n, &place) < SMALLEST;
}

/* A step of an equilibrium: Newton's, or, where the stiffness is not positive definite, the step is long or forces come
   to oppose it, as with a rope that is slack, one downhill with springs just stiff enough (Levenberg 1944). */
static bool settle(Model *model, const Phase *phase, const Stage *stage, double *size) {
    const LinearSystem *system = &stage->system;
    double *a = model->workspace + system->matrix, *b = model->workspace + system->right, spring = 0.0;
    double *stiffness = model->workspace + phase->stiffness;
    for (int i = 0, place = 0; i < MOST_SPRINGS; i++) {
        compute_phase(model, phase, stage);
        const double softest = SOFTEST / LONGEST * largest(phase->n_stiffness, b, &place);
        const double stiffest = largest(phase->n_stiffness * phase->n_stiffness, stiffness, &place);
        const bool balanced = is_balanced(model, phase, UNMOVED * stiffest);
        if (!isfinite(softest)) return solve(model, stage);
        hold(model, phase, system, spring);
        if (is_positive_definite(phase->n_stiffness, stiffness) &&
            linear_solve(system->n, system->columns, a, b, model->workspace + system->pivots, model->w) ==
                LINEAR_SOLVE_OK) {
            *size = largest(phase->n_moved, b, &place);
            if (spring > 0.0 && balanced) *size = 0.0;
            if (*size < SMALLEST) return spring <= INDIFFERENT * stiffest || fail_stability(model, phase);
            if (*size <= LONGEST && advance(model, phase, stage)) return true;
        }
        spring = spring > 0.0 ? STIFFER * spring : softest;
    }
    return fail_stability(model, phase);
}

static bool step_newton(Model *model, const Phase *phase, const Stage *stage, double *size) {
    const double *step = model->workspace + stage->system.right;
    int place = 0;
    if (!run_stage(model, stage)) return false;
    *size = largest(phase->n_moved, step, &place);
    if (*size >= SMALLEST) add(model, phase, step, *size > LONGEST ? LONGEST / *size : 1.0);
    return true;
}

/* Newton's method, with steps that are not too long. The last step is not added to what has been found. */
static bool run_phase(Model *model, const Phase *phase) {
    const Stage *stage = &equations.groups[GROUP_START].stages[phase->stage];
    begin_phase(model, phase);
    if (phase->n_found == 0 || model->run.start == START_DEFAULT) {
        compute_phase(model, phase, stage);
        return solve(model, stage);
    }
    for (int k = 0; k < MOST_STEPS; k++) {
        double size = 0.0;
        if (!(phase->tried >= 0 ? settle : step_newton)(model, phase, stage, &size)) return false;
        if (size < SMALLEST) return true;
    }
    return fail_phase(model, phase);
}

static bool run_phases(Model *model) {
    for (int i = 0; i < equations.start.n_phases; i++)
        if (!run_phase(model, &equations.start.phases[i])) return false;
    return true;
}

/* Where no parameter has been set, the start states are what the generator has found, to the last bit; the phases are
   there for derivatives, and a start that they cannot be taken at has none but those of the start parameters. */
static bool find_start(Model *model) {
    const double *parameters = model->workspace + equations.blocks.parameters;
    model->run.start = start_mode(model);
    if (model->run.start == START_FOUND)
        return run_phases(model) &&
               run_stage(model, &equations.groups[GROUP_START].stages[equations.start.n_stages - 1]);
    if (model->run.start == START_DEFAULT && !run_phases(model)) model->run.start = START_GIVEN;
    for (int i = 0; i < equations.n_states; i++)
        model->workspace[equations.blocks.start_states + i] = parameters[equations.start.parameters[i]];
    return true;
}

/* New parameters start the run anew: the start states become the states. They can only be set before its begin. */
static bool finish_start(Model *model) {
    if (!all_finite(model, VARIABLE_STATE, equations.blocks.start_states, equations.n_states)) return false;
    model_move(model, time_of(model), model->workspace + equations.blocks.start_states);
    switches_follow_time(model);
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

static bool run_stages(Model *model, int group) {
    const StageGroup *stages = &equations.groups[group];
    const bool finds = group == GROUP_START && equations.start.n_phases > 0;
    if (finds && !find_start(model)) return false;
    for (int i = finds ? equations.start.n_stages : 0; i < stages->n_stages; i++)
        if (!run_stage(model, &stages->stages[i])) return false;
    return true;
}

/* Until the run begins, the relations are what the start makes them. */
static bool run_initial_dynamics(Model *model) {
    for (int i = 0; i <= equations.n_relations; i++) {
        if (!run_stages(model, GROUP_DYNAMICS)) return false;
        if (switches_follow_states(model) < 0) return finish(model, GROUP_DYNAMICS);
    }
    return model_fail(model, "the conditions contradict each other at the start, t = %.15g s", time_of(model));
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
    memcpy(values, model->workspace + equations.blocks.derivatives, (size_t)equations.n_states * sizeof *values);
    return true;
}

static bool has_indices(const Stage *stage, double *workspace) {
    const LinearSystem *system = &stage->system;
    const Constrained constrained = model_constrained(&stage->constrained, workspace, workspace);
    return (system->n == 0 || linear_are_pivots(system->n, workspace + system->pivots)) &&
           (constrained.n == 0 || constrained_are_pivots(&constrained));
}

bool model_are_indices(double *workspace) {
    for (int group = 0; group < N_GROUPS; group++)
        for (int i = 0; i < equations.groups[group].n_stages; i++)
            if (!has_indices(&equations.groups[group].stages[i], workspace)) return false;
    return true;
}
