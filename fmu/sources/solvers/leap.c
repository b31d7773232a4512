/* At a singular configuration the constraint Jacobian loses rank. Accelerations are then small differences divided by
   its smallest singular value. They have a limit along the branch of the motion, but any error of the positions turns
   the motion to another branch, the sooner the larger the error. Steps with error control become short there and
   follow their errors. In contrast, a single step of an explicit method with normal length, whose stages avoid the
   singular instant, continues the motion along its tangent.

   Coefficients: Dormand-Prince of order 8 (Hairer, Norsett and Wanner, Solving ODEs I, section II.5, and their code
   DOP853). The singular instant lies in the widest gap between the nodes. */

#include "leap.h"

#include "adaptive_step.h"
#include "branch.h"
#include "evaluation.h"
#include "pace.h"
#include "point.h"
#include "vectors.h"
#include "zero_length.h"

#include <math.h>
#include <string.h>

enum { STAGES = 12, VECTORS = 4 + STAGES, SECTIONS = 40 };

static const double LENGTH = 0.1;      /* length of a leap, relative to the time in which the regularity changes by
                                          its largest value so far */
static const double PLACE = 0.467;     /* position of the singular instant in a leap: middle of the widest gap between
                                          the nodes */
static const double SHORTEST = 0.3;    /* smallest length of a leap, relative to its planned length */
static const double SINGULAR = 1e-4;   /* regularity, relative to the largest, below which the configuration counts as
                                          singular */
static const double ERRORS_ROOT = 3.0; /* the same relative to the square root of the tolerance, for singular
                                          configurations hidden by integration errors */
static const double LOOK = 0.1;        /* distance at which the rate of the regularity is evaluated, relative to the
                                          last step */

static const double NODES[STAGES] = {
    0, 0.05260015195876773, 0.0789002279381516, 0.1183503419072274, 0.2816496580927726, 0.3333333333333333, 0.25,
    0.3076923076923077, 0.6512820512820513, 0.6, 0.8571428571428571, 1.0};
static const double MATRIX[STAGES][STAGES - 1] = {
    {0},
    {0.05260015195876773},
    {0.0197250569845379, 0.0591751709536137},
    {0.02958758547680685, 0, 0.08876275643042054},
    {0.2413651341592667, 0, -0.8845494793282861, 0.924834003261792},
    {0.037037037037037035, 0, 0, 0.17082860872947386, 0.12546768756682242},
    {0.037109375, 0, 0, 0.17025221101954405, 0.06021653898045596, -0.017578125},
    {0.03709200011850479, 0, 0, 0.17038392571223998, 0.10726203044637328, -0.015319437748624402, 0.008273789163814023},
    {0.6241109587160757, 0, 0, -3.3608926294469414, -0.868219346841726, 27.59209969944671, 20.154067550477894,
     -43.48988418106996},
    {0.47766253643826434, 0, 0, -2.4881146199716677, -0.590290826836843, 21.230051448181193, 15.279233632882423,
     -33.28821096898486, -0.020331201708508627},
    {-0.9371424300859873, 0, 0, 5.186372428844064, 1.0914373489967295, -8.149787010746927, -18.52006565999696,
     22.739487099350505, 2.4936055526796523, -3.0467644718982196},
    {2.273310147516538, 0, 0, -10.53449546673725, -2.0008720582248625, -17.9589318631188, 27.94888452941996,
     -2.8589982771350235, -8.87285693353063, 12.360567175794303, 0.6433927460157636},
};
static const double WEIGHTS[STAGES] = {
    0.054293734116568765, 0, 0, 0, 0, 4.450312892752409, 1.8915178993145003, -5.801203960010585, 0.3111643669578199,
    -0.1521609496625161, 0.20136540080403034, 0.04471061572777259};

/* Vectors of n_states numbers in model->solver. */
typedef struct {
    double begin; /* begin of the leap, s */
    double *state, *trial, *sum, *last, *slopes[STAGES];
} Leap;

static Leap lay_out(const Model *model) {
    double *next = model->solver;
    Leap s = {0};
    double **const vectors[] = {&s.state, &s.trial, &s.sum, &s.last};
    for (int i = 0; i < VECTORS - STAGES; i++, next += equations.n_states) *vectors[i] = next;
    for (int i = 0; i < STAGES; i++, next += equations.n_states) s.slopes[i] = next;
    return s;
}

size_t leap_scratch(void) { return VECTORS * (size_t)equations.n_states; }

static double *states_of(const Model *model) { return model->workspace + equations.blocks.states; }

/* ---- Location of the singular configuration -------------------------------------------------------------------- */

/* Returns the regularity of the constraints after a duration with constant accelerations; 0 if it cannot be
   evaluated. */
static double regularity_after(Model *model, const Leap *s, double duration) {
    const int n = equations.n_positions;
    copy_numbers(equations.n_states, s->state, s->trial);
    for (int i = 0; i < n; i++)
        s->trial[i] += duration * (s->state[n + i] + 0.5 * duration * s->slopes[0][n + i]);
    model_move(model, s->begin + duration, s->trial);
    return model_evaluate(model, GROUP_DYNAMICS) ? model->regularity : 0.0;
}

/* Searches the minimum regularity by golden sections and returns the duration until then, s. */
static double soonest(Model *model, const Leap *s, double longest, double *least) {
    const double ratio = 0.5 * (sqrt(5.0) - 1.0);
    double low = 0.0, high = longest, inner[2] = {(1.0 - ratio) * longest, ratio * longest}, found[2];
    for (int side = 0; side < 2; side++) found[side] = regularity_after(model, s, inner[side]);
    for (int i = 0; i < SECTIONS; i++) {
        const int nearer = found[0] < found[1] ? 0 : 1;
        *(nearer == 0 ? &high : &low) = inner[1 - nearer];
        inner[1 - nearer] = inner[nearer];
        found[1 - nearer] = found[nearer];
        inner[nearer] = nearer == 0 ? high - ratio * (high - low) : low + ratio * (high - low);
        found[nearer] = regularity_after(model, s, inner[nearer]);
    }
    *least = fmin(found[0], found[1]);
    return 0.5 * (low + high);
}

static double accepted_as_singular(const Model *model) {
    return fmax(SINGULAR, ERRORS_ROOT * sqrt(relative_tolerance(model))) * model->most_regular;
}

/* Computes state, derivative and regularity at the current point, then the rate of the regularity over a short time,
   1/s. */
static bool begin(Model *model, Leap *s, double *regularity) {
    s->begin = model_time(model);
    copy_numbers(equations.n_states, states_of(model), s->state);
    if (!model_derivatives(model, s->slopes[0])) return false;
    *regularity = model->regularity;
    return true;
}

bool leap_plan(Model *model) {
    Leap s = lay_out(model);
    const double reached = model_time(model), look = LOOK * (reached - model->branch_time);
    double regularity;
    model->leap_at = INFINITY;
    model->leap_is_due = false;
    branch_go_back(model);
    zero_length_forget(model);
    model->run.step = 0.0;
    model->run.previous_error = 1.0;
    model->factored = false; /* its memory is overwritten */
    if (!begin(model, &s, &regularity)) return false;
    const double rate = (regularity - regularity_after(model, &s, look)) / look;
    model->no_leap_before = reached;
    if (rate > 0.0) {
        model->leap_length = LENGTH * model->most_regular / rate;
        model->leap_at = s.begin + fmax(0.0, regularity / rate - PLACE * model->leap_length);
    }
    model_move(model, s.begin, s.state);
    return zero_length_begin(model);
}

/* ---- The leap -------------------------------------------------------------------------------------------------- */

static bool attempt(Model *model, const Leap *s, double end) {
    const int n = equations.n_states;
    const double h = end - s->begin;
    for (int stage = 1; stage <= STAGES; stage++) {
        const double *weights = stage < STAGES ? MATRIX[stage] : WEIGHTS;
        for (int i = 0; i < n; i++) {
            double sum = 0.0;
            for (int k = 0; k < stage; k++) sum += weights[k] * s->slopes[k][i];
            s->trial[i] = s->state[i] + h * sum;
        }
        model_move(model, stage < STAGES - 1 ? s->begin + NODES[stage] * h : end, s->trial);
        if (!model_derivatives(model, stage < STAGES ? s->slopes[stage] : s->last)) return false;
    }
    return true;
}

/* Computes the coefficients of x^0 to x^5 on [0, 1] from values, first and second derivatives at both ends. */
static void quintic(const double begin[3], const double end[3], double *const *c, int i) {
    const double value = end[0] - begin[0] - begin[1] - 0.5 * begin[2];
    const double slope = end[1] - begin[1] - begin[2], curvature = end[2] - begin[2];
    c[0][i] = begin[0];
    c[1][i] = begin[1];
    c[2][i] = 0.5 * begin[2];
    c[3][i] = 10.0 * value - 4.0 * slope + 0.5 * curvature;
    c[4][i] = -15.0 * value + 7.0 * slope - curvature;
    c[5][i] = 6.0 * value - 3.0 * slope + 0.5 * curvature;
}

static void cubic(const double begin[2], const double end[2], double *const *c, int i) {
    const double value = end[0] - begin[0] - begin[1], slope = end[1] - begin[1];
    c[0][i] = begin[0];
    c[1][i] = begin[1];
    c[2][i] = 3.0 * value - slope;
    c[3][i] = slope - 2.0 * value;
    c[4][i] = c[5][i] = 0.0;
}

/* Interpolates coordinates with order 5, velocities with the derivative, and other states with order 3. */
static void interpolate(const Leap *s, double h, const double *end, double *const *c) {
    const int n = equations.n_positions;
    const double *slope = s->slopes[0], *last = s->last;
    for (int i = 0; i < n; i++) {
        const double before[] = {s->state[i], h * slope[i], h * h * slope[n + i]};
        const double after[] = {end[i], h * last[i], h * h * last[n + i]};
        quintic(before, after, c, i);
        for (int k = 0; k < MOST_DEGREE; k++) c[k][n + i] = (k + 1) * c[k + 1][i] / h;
        c[MOST_DEGREE][n + i] = 0.0;
    }
    for (int i = 2 * n; i < equations.n_states; i++) {
        const double before[] = {s->state[i], h * slope[i]}, after[] = {end[i], h * last[i]};
        cubic(before, after, c, i);
    }
}

static bool polynomial(Model *model, double *const *coefficients, Polynomial *found) {
    Leap s = lay_out(model);
    s.begin = model->step_begin;
    const double h = model_time(model) - s.begin;
    copy_numbers(equations.n_states, states_of(model), s.trial);
    if (!model_derivatives(model, s.last)) return false;
    interpolate(&s, h, s.trial, coefficients);
    *found = (Polynomial){s.begin, h, MOST_DEGREE, NULL};
    return true;
}

/* Repeats the leap with another length, up to an event within it. */
static bool step_to(Model *model, double end, const void *leap) { return attempt(model, leap, end); }

bool leap_across(Model *model, double limit, int32_t *budget, bool *done) {
    Leap s = lay_out(model);
    double regularity, least;
    *done = false;
    model->leap_at = INFINITY;
    model->slope = NULL;
    model->factored = false;
    if (!begin(model, &s, &regularity)) return false;
    const double until = soonest(model, &s, 2.0 * PLACE * model->leap_length, &least);
    const double end = s.begin + fmax(until / PLACE, SHORTEST * model->leap_length);
    model_move(model, s.begin, s.state);
    model->no_leap_before = end;
    if (least > accepted_as_singular(model) || end > fmin(limit, pace_end(model, s.begin))) return true;
    model->branch_is_open = true;
    if (!integrator_spend_step(model, budget) || !attempt(model, &s, end)) return false;
    *done = true;
    return integrator_accept_step(model, s.begin, step_to, &s);
}

const Integrator leaping = {VECTORS, 0, NULL, NULL, polynomial, 0.0};
