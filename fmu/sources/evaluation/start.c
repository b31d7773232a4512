/* Search for the initial state: phases of Newton's method, each with a stage whose step converges to zero. A static
   equilibrium that is far from the initial guess is approached by descent steps. */

#include "start.h"

#include "linear_solve.h"
#include "stage.h"

#include <math.h>
#include <string.h>

static const DownhillLimits *const LIMITS = &equations.start.downhill;

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
    return model_fail(model, "no %s was found in %d steps for these parameters: residual %.3g of %s", phase->what,
                      phase->most_steps, left, phase->names[worst]);
}

/* Whether a symmetric n x n matrix is positive definite, by a Cholesky factorisation that replaces the matrix. */
static bool is_positive_definite(int n, double *a) {
    for (int j = 0; j < n; j++) {
        const double rounding = LIMITS->pivot * fabs(a[j * n + j]);
        for (int k = 0; k < j; k++)
            for (int i = j; i < n; i++) a[j * n + i] -= a[k * n + i] * a[k * n + j];
        const double pivot = a[j * n + j];
        if (!(pivot > rounding)) return false;
        for (int i = j; i < n; i++) a[j * n + i] /= sqrt(pivot);
    }
    return true;
}

static bool fail_stability(Model *model, const Phase *phase) {
    return model_fail(model, "the %s near the previous one is unstable for these parameters: %s and others move away "
                      "from it", phase->what, phase->names[0]);
}

/* Computes column `column` of the residual's Jacobian; the right-hand side contains the negative residual. */
static void differentiate(Model *model, const Phase *phase, const Stage *stage, int column) {
    const LinearSystem *system = &stage->system;
    double *rates = model->workspace + system->matrix + (size_t)column * (size_t)system->n;
    model->changes[phase->found + column] = 1.0;
    stage_differentiate(model, stage);
    model->changes[phase->found + column] = 0.0;
    for (int i = 0; i < system->n; i++) rates[i] = -model->changes[system->right + i];
}

/* Computes the symmetric stiffness matrix of forces with the Jacobian [-K C'; C 0]. Stiff springs resist an opening
   of the loops. */
static void stiffen(Model *model, const Phase *phase, const LinearSystem *system) {
    const int n = phase->n_stiffness, all = system->n;
    const double *A = model->workspace + system->matrix;
    double *K = model->workspace + phase->stiffness, sum = 0.0, squares = 0.0;
    for (int j = 0; j < n; j++) {
        sum += fabs(A[j * all + j]);
        for (int i = n; i < all; i++) squares += A[j * all + i] * A[j * all + i];
    }
    /* if loops alone constrain the motion, any spring constant serves the purpose */
    const double spring = squares > 0.0 ? LIMITS->loops * (sum > 0.0 ? sum : 1.0) / squares : 0.0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            double along = 0.0;
            for (int row = n; row < all; row++) along += A[i * all + row] * A[j * all + row];
            K[j * n + i] = -0.5 * (A[j * all + i] + A[i * all + j]) + spring * along;
        }
}

/* Computes the residual, and its Jacobian if the stage has no matrix of its own. */
static void compute_phase(Model *model, const Phase *phase, const Stage *stage) {
    stage_compute(model, stage);
    if (phase->stiffness < 0) return;
    memset(model->changes, 0, (size_t)equations.workspace_size * sizeof *model->changes);
    for (int i = 0; i < stage->system.n; i++) differentiate(model, phase, stage, i);
    stiffen(model, phase, &stage->system);
}

/* Adds a spring to each coordinate, with its current value as free length. */
static void hold(Model *model, const Phase *phase, const LinearSystem *system, double spring) {
    for (int i = 0; i < phase->n_stiffness; i++) {
        model->workspace[system->matrix + i * (system->n + 1)] -= spring;
        model->workspace[phase->stiffness + i * (phase->n_stiffness + 1)] += spring;
    }
}

static void add(Model *model, const Phase *phase, const double *step, double factor) {
    for (int i = 0; i < phase->n_found; i++) model->workspace[phase->found + i] += factor * step[i];
}

/* Returns the work of the forces along the trial step. */
static double work(const Model *model, const Phase *phase) {
    double sum = 0.0;
    for (int i = 0; i < phase->n_stiffness; i++)
        sum += model->workspace[phase->left + i] * model->workspace[phase->tried + i];
    return sum;
}

/* Adds a step and returns true, unless the forces at its end oppose it by half the work that they promise at its
   begin (Crisfield 1982). */
static bool advance(Model *model, const Phase *phase, const Stage *stage) {
    double *tried = model->workspace + phase->tried;
    memcpy(tried, model->workspace + stage->system.right, (size_t)phase->n_found * sizeof *tried);
    const double promised = work(model, phase);
    add(model, phase, tried, 1.0);
    stage_compute(model, stage);
    if (!(work(model, phase) < LIMITS->opposed * promised)) return true;
    add(model, phase, tried, -1.0);
    return false;
}

/* Whether the loops are closed and no force exceeds `force`. */
static bool is_balanced(const Model *model, const Phase *phase, double force) {
    const double *left = model->workspace + phase->left;
    const int n = phase->n_stiffness;
    int place = 0;
    return largest(n, left, &place) < force && largest(phase->n_left - n, left + n, &place) < LIMITS->converged;
}

/* Takes a step towards the equilibrium. A Newton step is replaced by a descent step with springs of just sufficient
   stiffness (Levenberg 1944) if the stiffness is not positive definite, the step is long or the forces oppose it, as
   with a slack rope. */
static bool settle(Model *model, const Phase *phase, const Stage *stage, double *size) {
    const LinearSystem *system = &stage->system;
    double *a = model->workspace + system->matrix, *b = model->workspace + system->right, spring = 0.0;
    double *stiffness = model->workspace + phase->stiffness;
    for (int i = 0, place = 0; i < LIMITS->most_springs; i++) {
        compute_phase(model, phase, stage);
        const double softest = LIMITS->softest / phase->longest * largest(phase->n_stiffness, b, &place);
        const double stiffest = largest(phase->n_stiffness * phase->n_stiffness, stiffness, &place);
        const bool balanced = is_balanced(model, phase, LIMITS->unmoved * stiffest);
        if (!isfinite(softest)) return stage_solve(model, stage);
        hold(model, phase, system, spring);
        if (is_positive_definite(phase->n_stiffness, stiffness) &&
            linear_solve(system->n, system->columns, a, b, model->workspace + system->pivots, model->w) ==
                LINEAR_SOLVE_OK) {
            *size = largest(phase->n_moved, b, &place);
            if (spring > 0.0 && balanced) *size = 0.0;
            if (*size < LIMITS->converged) return spring <= LIMITS->indifferent * stiffest || fail_stability(model, phase);
            if (*size <= phase->longest && advance(model, phase, stage)) return true;
        }
        spring = spring > 0.0 ? LIMITS->stiffer * spring : softest;
    }
    return fail_stability(model, phase);
}

static bool step_newton(Model *model, const Phase *phase, const Stage *stage, double *size) {
    const double *step = model->workspace + stage->system.right;
    int place = 0;
    if (!stage_run(model, stage)) return false;
    *size = largest(phase->n_moved, step, &place);
    if (*size >= LIMITS->converged) add(model, phase, step, *size > phase->longest ? phase->longest / *size : 1.0);
    return true;
}

/* Performs Newton's method with bounded steps. The last step is not added to the solution. */
static bool run_phase(Model *model, const Phase *phase) {
    const Stage *stage = &equations.groups[GROUP_START].stages[phase->stage];
    begin_phase(model, phase);
    if (phase->n_found == 0 || model->run.start == START_DEFAULT) {
        compute_phase(model, phase, stage);
        return stage_solve(model, stage);
    }
    for (int k = 0; k < phase->most_steps; k++) {
        double size = 0.0;
        if (!(phase->tried >= 0 ? settle : step_newton)(model, phase, stage, &size)) return false;
        if (size < LIMITS->converged) return true;
    }
    return fail_phase(model, phase);
}

static bool run_phases(Model *model) {
    for (int i = 0; i < equations.start.n_phases; i++)
        if (!run_phase(model, &equations.start.phases[i])) return false;
    return true;
}

/* Finds the start states. Without modified parameters they are those of the generator, bit by bit, and the phases
   serve for derivatives only. If derivatives do not exist at the initial state, the derivatives of the start
   parameters are used. */
bool start_find(Model *model) {
    const double *parameters = model->workspace + equations.blocks.parameters;
    model->run.start = start_mode(model);
    if (model->run.start == START_FOUND)
        return run_phases(model) &&
               stage_run(model, &equations.groups[GROUP_START].stages[equations.start.n_stages - 1]);
    if (model->run.start == START_DEFAULT && !run_phases(model)) model->run.start = START_GIVEN;
    for (int i = 0; i < equations.n_states; i++)
        model->workspace[equations.blocks.start_states + i] = parameters[equations.start.parameters[i]];
    return true;
}
