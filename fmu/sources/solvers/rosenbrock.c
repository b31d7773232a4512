/* RODASP: a Rosenbrock method of order 4 with an embedded method of order 3, stiffly accurate and L-stable, without
   order reduction for stiff linear problems.

   Coefficients: Steinebach, Order-reduction of ROW-methods for DAEs and method of lines applications, Preprint 1741,
   TH Darmstadt (1995); as in Hairer and Wanner, Solving ODEs II, 2nd ed., section IV.7, and their code RODAS.
   Formulas: (7.25) in this book, for non-autonomous problems. The Jacobian is exact and evaluated in every step; all
   attempts of a step share it. */

#include "adaptive_step.h"
#include "derivatives.h"
#include "evaluation.h"
#include "inputs.h"
#include "linear_solve.h"
#include "point.h"
#include "stage_matrix.h"

#include <string.h>

enum { STAGES = 6 };

static const double GAMMA = 0.25;
static const double NODES[STAGES] = {0.0, 0.75, 0.21, 0.63, 1.0, 1.0};
static const double TIME_WEIGHTS[STAGES] = {0.25, -0.5, -0.023504, -0.0362, 0.0, 0.0};
/* The last rows are the weights of the embedded result and, without the last increment, of the result. */
static const double MATRIX[STAGES][STAGES - 1] = {
    {0},
    {3.0},
    {1.831036793486759, 0.4955183967433795},
    {2.304376582692669, -0.05249275245743001, -1.176798761832782},
    {-7.170454962423024, -4.741636671481785, -16.31002631330971, -1.062004044111401},
    {-7.170454962423024, -4.741636671481785, -16.31002631330971, -1.062004044111401, 1.0},
};
static const double INCREMENTS[STAGES][STAGES - 1] = {
    {0},
    {-12.0},
    {-8.791795173947035, -2.207865586973518},
    {10.81793056857153, 6.780270611428266, 19.53485944642410},
    {34.19095006749676, 15.49671153725963, 54.74760875964130, 14.16005392148534},
    {34.62605830930532, 15.30084976114473, 56.99955578662667, 18.40807009793095, -5.714285714285717},
};

/* Scratch memory of the method: vectors of n_states numbers, followed by matrices with n_states columns. */
typedef struct {
    double *by_time; /* partial derivative of the state derivative with respect to time */
    double *increments[STAGES];
    double *jacobian;
    StageMatrix matrix;
} Vectors;

enum { VECTORS = 1 + STAGES };

static Vectors vectors_of(const Step *step) {
    const int n = equations.n_states;
    double *first = step->scratch;
    Vectors v = {.by_time = first, .jacobian = first + VECTORS * n};
    for (int i = 0; i < STAGES; i++) v.increments[i] = first + (1 + i) * n;
    v.matrix = (StageMatrix){n, equations.n_positions, v.jacobian, v.jacobian + (size_t)n * (size_t)n};
    return v;
}

static bool prepare(Model *model, const Step *step) {
    const Vectors v = vectors_of(step);
    model->run.counters[COUNTER_SOLVER_JACOBIANS]++;
    return model_jacobian(model, inputs_rates(model), v.jacobian, v.by_time);
}

/* Adds the weighted increments of the preceding stages to `sum`. */
static void add_increments(const Vectors *v, const double *weights, int stage, double factor, double *sum) {
    for (int k = 0; k < stage; k++)
        for (int i = 0; i < equations.n_states; i++) sum[i] += factor * weights[k] * v->increments[k][i];
}

/* Solves (1/(gamma h) - J) x = b in place. */
static void solve(const Vectors *v, double h, double *b) {
    for (int i = 0; i < equations.n_states; i++) b[i] *= GAMMA * h;
    stage_matrix_solve(&v->matrix, GAMMA * h, b);
}

/* Computes the factors and the first increment. */
static bool first_stage(Model *model, double h, const Step *step, const Vectors *v) {
    if (stage_matrix_factor(&v->matrix, GAMMA * h) != LINEAR_SOLVE_OK)
        return model_fail(model, "the linear system of a Rosenbrock step of %.3g s has no solution", h);
    double *increment = v->increments[0];
    for (int i = 0; i < equations.n_states; i++)
        increment[i] = step->slope[i] + h * TIME_WEIGHTS[0] * v->by_time[i];
    solve(v, h, increment);
    return true;
}

static void move(Model *model, double time, int stage, const Step *step, const Vectors *v) {
    memcpy(step->trial, step->state, (size_t)equations.n_states * sizeof *step->trial);
    add_increments(v, MATRIX[stage], stage, 1.0, step->trial);
    model_move(model, time, step->trial);
}

static bool attempt(Model *model, double t, double t_end, const Step *step) {
    const int n = equations.n_states;
    const double h = t_end - t;
    const Vectors v = vectors_of(step);
    if (!first_stage(model, h, step, &v)) return false;
    for (int stage = 1; stage < STAGES; stage++) {
        double *increment = v.increments[stage];
        move(model, NODES[stage] < 1.0 ? t + NODES[stage] * h : t_end, stage, step, &v);
        if (!model_derivatives(model, increment)) return false;
        add_increments(&v, INCREMENTS[stage], stage, 1.0 / h, increment);
        for (int i = 0; i < n; i++) increment[i] += h * TIME_WEIGHTS[stage] * v.by_time[i];
        solve(&v, h, increment);
    }
    memcpy(step->error, v.increments[STAGES - 1], (size_t)n * sizeof *step->error);
    for (int i = 0; i < n; i++) step->trial[i] += step->error[i];
    model_move(model, t_end, step->trial);
    return true;
}

static const AdaptiveMethod METHOD = {4.0, prepare, attempt};

static bool advance(Model *model, double end, double limit, int32_t *budget) {
    return advance_adaptively(model, end, limit, budget, &METHOD);
}

const Integrator rosenbrock_43 = {STEP_VECTORS + VECTORS + STAGE_MATRIX_VECTORS, 2, NULL, advance, NULL, 0.0};
