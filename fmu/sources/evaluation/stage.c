/* Stage: function, linear system, and the forward and adjoint derivatives of both (Griewank and Walther, Evaluating
   Derivatives, chapters 3 and 15). model->changes has the same layout as the workspace: at the offset of a value it
   contains the value's change or adjoint. */

#include "stage.h"

#include "constrained_solve.h"
#include "linear_solve.h"
#include "symmetric_solve.h"
#include "tree_rows.h"

#include <math.h>

/* Largest dependent velocity per independent velocity; beyond it, half of a double's digits are lost. */
static const double STEEPEST = 1e8;

/* Returns the sign of the determinant from the factors of A. */
static int32_t orientation(const LinearSystem *system, const double *a, const double *pivots) {
    int32_t sign = 1;
    for (int k = 0; k < system->n; k++) {
        if (a[k * (system->n + 1)] < 0.0) sign = -sign;
        if ((int)pivots[k] != k) sign = -sign;
    }
    return sign;
}

static bool is_steep(int n, const double *x) {
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i]) < STEEPEST)) return true;
    return false;
}

/* Whether the ratios of dependent to independent velocities exceed the limit. Unused solutions are computed only if
   their bounds do not decide this. */
static bool are_steep(const LinearSystem *system, const double *a, const double *pivots, double *b, double *bounds) {
    if (system->columns == 0) {
        linear_bound(system->n, system->ratios, a, pivots, b, bounds);
        if (!is_steep(system->n, bounds)) return false;
        linear_solve_again(system->n, system->ratios, a, pivots, b);
    }
    return is_steep(system->n * system->ratios, b);
}

/* Checks the coordinate partition. A solver could step over a singular point or turn back near it; both result in a
   wrong motion. */
static bool check_partition(Model *model, const Stage *stage, const double *a, double *b, const double *pivots) {
    const int32_t before = model->run.orientation, now = orientation(&stage->system, a, pivots);
    model->run.orientation = before ? before : now;
    if (now == model->run.orientation && !are_steep(&stage->system, a, pivots, b, model->w)) return true;
    return model_fail(model, "the constraints cannot be solved for %s all the way to t = %.15g s: the linear system of "
                      "the %s becomes singular; choose other dependent coordinates", stage->coordinates,
                      model_time(model), stage->name);
}

bool stage_solve(Model *model, const Stage *stage) {
    const LinearSystem *system = &stage->system;
    double *a = model->workspace + system->matrix, *b = model->workspace + system->right;
    double *pivots = model->workspace + system->pivots;
    const int code = system->symmetric ? symmetric_solve(system->n, system->columns, a, b)
                                       : linear_solve(system->n, system->columns, a, b, pivots, model->w);
    if (code == LINEAR_SOLVE_OK)
        return !system->partition || check_partition(model, stage, a, b, pivots);
    if (code == LINEAR_SOLVE_NOT_FINITE)
        return model_fail(model, "the linear system of the %s has no finite solution at t = %.15g s "
                          "(coordinates: %s)", stage->name, model_time(model), stage->coordinates);
    return model_fail(model, "the linear system of the %s is singular at t = %.15g s: pivot %d of %d vanishes "
                      "(coordinates: %s)", stage->name, model_time(model), code, system->n, stage->coordinates);
}

/* Returns the matrices of a stage's system in the workspace, with F, W, X and L in an array of the same layout. */
static Constrained constrained_blocks(const ConstrainedSystem *system, double *workspace, double *vectors) {
    return (Constrained){.n = system->n, .m = system->m, .columns = system->columns,
                         .M = workspace + system->matrix, .C = workspace + system->jacobian,
                         .F = vectors + system->right, .W = vectors + system->wanted,
                         .X = vectors + system->solution, .L = vectors + system->multipliers,
                         .work = workspace + system->work};
}

static bool fail_dependent(Model *model, const Stage *stage, int m) {
    return model_fail(model, "the %d constraints that the %s are solved with depend on each other at t = %.15g s: "
                      "no choice of dependent coordinates is regular (coordinates: %s)", m, stage->name,
                      model_time(model), stage->coordinates);
}

static bool solve_constrained(Model *model, const Stage *stage) {
    const ConstrainedSystem *system = &stage->constrained;
    Constrained blocks = constrained_blocks(system, model->workspace, model->workspace);
    blocks.regularity = &model->regularity;
    const int code = constrained_solve(&blocks);
    if (code == LINEAR_SOLVE_OK) return true;
    if (code == LINEAR_SOLVE_NOT_FINITE)
        return model_fail(model, "the %s are not finite at t = %.15g s (coordinates: %s)", stage->name,
                          model_time(model), stage->coordinates);
    if (code == CONSTRAINED_SOLVE_DEPENDENT) return fail_dependent(model, stage, system->m);
    return model_fail(model, "the linear system of the %s is singular at t = %.15g s: pivot %d of %d vanishes "
                      "(coordinates: %s)", stage->name, model_time(model), code, system->n - system->m,
                      stage->coordinates);
}

static TreeRows tree_blocks(const TreeSystem *system, double *workspace, double *vectors) {
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
    TreeRows blocks = tree_blocks(&stage->tree, model->workspace, model->workspace);
    blocks.regularity = &model->regularity;
    const int code = tree_rows_solve(&blocks, model->w);
    if (code == LINEAR_SOLVE_NOT_FINITE || (code == LINEAR_SOLVE_OK && !tree_is_finite(&blocks.tree)))
        return model_fail(model, "the %s are not finite at t = %.15g s (coordinates: %s)", stage->name,
                          model_time(model), stage->coordinates);
    if (code == LINEAR_SOLVE_OK) return true;
    if (code == CONSTRAINED_SOLVE_DEPENDENT) return fail_dependent(model, stage, blocks.m);
    return model_fail(model, "no inertia resists the motion of coordinate %d of %d at t = %.15g s%s (coordinates: %s)",
                      code, blocks.tree.n, model_time(model),
                      blocks.m > 0 ? "; if constraints hold this coordinate, use accelerations = \"dense\"" : "",
                      stage->coordinates);
}

void stage_compute(Model *model, const Stage *stage) {
    for (int i = 0; i < stage->n_inputs; i++) model->arg[i] = model->workspace + stage->inputs[i];
    for (int i = 0; i < stage->n_outputs; i++) model->res[i] = model->workspace + stage->outputs[i];
    stage->function(model->arg, model->res, model->w);
}

bool stage_run(Model *model, const Stage *stage) {
    stage_compute(model, stage);
    if (stage->constrained.n > 0) return solve_constrained(model, stage);
    if (stage->tree.n > 0) return solve_tree(model, stage);
    return stage->system.n == 0 || stage_solve(model, stage);
}

/* ---- Derivatives of linear systems ---------------------------------------------------------------------------- */

/* Replaces the change of B - A X, in the right-hand side's block, by the change of X. */
static void solve_forward(Model *model, const LinearSystem *system) {
    const double *a = model->workspace + system->matrix, *pivots = model->workspace + system->pivots;
    double *b = model->changes + system->right;
    if (system->symmetric)
        symmetric_solve_again(system->n, system->columns, a, b);
    else
        linear_solve_again(system->n, system->columns, a, pivots, b);
}

/* Replaces the adjoint of X, in the right-hand side's block, by the adjoint of B - A X. */
static void solve_backward(Model *model, const LinearSystem *system) {
    if (system->symmetric)
        solve_forward(model, system);
    else
        linear_solve_transposed(system->n, system->columns, model->workspace + system->matrix,
                                model->workspace + system->pivots, model->changes + system->right);
}

/* Replaces the changes of F - M X + C' L and W - C X, in the blocks of F and W, by those of X and L. */
static void constrained_forward(Model *model, const ConstrainedSystem *system) {
    const Constrained blocks = constrained_blocks(system, model->workspace, model->changes);
    constrained_solve_again(&blocks);
}

static void negate(double *values, int n) {
    for (int i = 0; i < n; i++) values[i] = -values[i];
}

/* Replaces the adjoints of X and L by those of F and W: x and -l with M x - C' l = X, C x = -L. */
static void constrained_backward(Model *model, const ConstrainedSystem *system) {
    Constrained blocks = constrained_blocks(system, model->workspace, model->changes);
    double *changes = model->changes, *wanted = changes + system->wanted;
    negate(changes + system->multipliers, system->m * system->columns);
    blocks.F = changes + system->solution;
    blocks.W = changes + system->multipliers;
    blocks.X = changes + system->right;
    blocks.L = wanted;
    constrained_solve_again(&blocks);
    negate(wanted, system->m * system->columns);
}

/* Replaces the changes of F - M X + C' L and W - C X, in the blocks of F and W, by those of X and L. */
static void tree_forward(Model *model, const TreeSystem *system) {
    const TreeRows blocks = tree_blocks(system, model->workspace, model->changes);
    tree_rows_solve_again(&blocks, model->w);
}

/* Computes adjoints like constrained_backward; F and W share their blocks with X and L. */
static void tree_backward(Model *model, const TreeSystem *system) {
    double *multipliers = model->changes + system->wanted;
    negate(multipliers, system->m * system->columns);
    tree_forward(model, system);
    negate(multipliers, system->m * system->columns);
}

/* ---- Derivatives of a stage ----------------------------------------------------------------------------------- */

static int put_values(Model *model, const StageDerivative *derivative) {
    for (int i = 0; i < derivative->n_values; i++) model->arg[i] = model->workspace + derivative->values[i];
    return derivative->n_values;
}

void stage_differentiate(Model *model, const Stage *stage) {
    const StageDerivative *derivative = stage->derivative;
    const int n = put_values(model, derivative);
    for (int i = 0; i < derivative->n_from; i++) model->arg[n + i] = model->changes + derivative->from[i];
    for (int i = 0; i < derivative->n_to; i++) model->res[i] = model->changes + derivative->to[i];
    derivative->forward(model->arg, model->res, model->w);
}

void stage_forward(Model *model, const Stage *stage) {
    if (stage->derivative == NULL) return;
    stage_differentiate(model, stage);
    if (stage->system.n > 0) solve_forward(model, &stage->system);
    if (stage->constrained.n > 0) constrained_forward(model, &stage->constrained);
    if (stage->tree.n > 0) tree_forward(model, &stage->tree);
}

void stage_backward(Model *model, const Stage *stage) {
    const StageDerivative *derivative = stage->derivative;
    if (derivative == NULL) return;
    if (stage->system.n > 0) solve_backward(model, &stage->system);
    if (stage->constrained.n > 0) constrained_backward(model, &stage->constrained);
    if (stage->tree.n > 0) tree_backward(model, &stage->tree);
    const int n = put_values(model, derivative);
    for (int i = 0; i < derivative->n_to; i++) model->arg[n + i] = model->changes + derivative->to[i];
    double *share = model->shares;
    for (int i = 0; i < derivative->n_from; share += derivative->sizes[i++]) model->res[i] = share;
    derivative->reverse(model->arg, model->res, model->w);
    for (int i = 0; i < derivative->n_from; i++)
        for (int k = 0; k < derivative->sizes[i]; k++) model->changes[derivative->from[i] + k] += model->res[i][k];
}

bool stage_has_indices(const Stage *stage, double *workspace) {
    const LinearSystem *system = &stage->system;
    const Constrained constrained = constrained_blocks(&stage->constrained, workspace, workspace);
    return (system->n == 0 || system->symmetric || linear_are_pivots(system->n, workspace + system->pivots)) &&
           (constrained.n == 0 || constrained_are_pivots(&constrained));
}
