/* The wrench that a subtree's acceleration (alpha, a) takes at its first body is [J H; H' M] (alpha, a), where joints
   behind it yield. From the leaves inward each coordinate is eliminated: with its axis S, U = I S and D = S' U its
   share U U' / D of the inertia is not felt any more. */

#include "tree_solve.h"

#include "linear_solve.h"

#include <math.h>
#include <stddef.h>

/* An inertia that has lost this share of that of the rigid subtree to cancellation is rounding error. */
static const double SINGULAR = 1e-13;

/* What is felt at a body, and of the rigid subtree what its inertia about an axis is at most. */
typedef struct {
    double J[6], H[9], M[6];       /* J and M: xx, xy, xz, yy, yz, zz; H by rows */
    double mass, moment[3], trace; /* trace: of the inertia */
} Felt;

static Felt *felt(double *scratch, int body) { return (Felt *)(void *)scratch + body; }

static inline double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* c += a x b */
static inline void add_cross(const double *a, const double *b, double *c) {
    c[0] += a[1] * b[2] - a[2] * b[1];
    c[1] += a[2] * b[0] - a[0] * b[2];
    c[2] += a[0] * b[1] - a[1] * b[0];
}

static void begin(const double *own, Felt *f) {
    const double m = own[0], *s = own + 1, *J = own + 4;
    *f = (Felt){.J = {J[0], J[1], J[2], J[3], J[4], J[5]},
                .H = {0.0, -s[2], s[1], s[2], 0.0, -s[0], -s[1], s[0], 0.0},
                .M = {m, 0.0, 0.0, m, 0.0, m},
                .mass = m,
                .moment = {s[0], s[1], s[2]},
                .trace = J[0] + J[3] + J[5]};
}

static void symmetric(const double *A, const double *x, double *y) {
    y[0] = A[0] * x[0] + A[1] * x[1] + A[2] * x[2];
    y[1] = A[1] * x[0] + A[3] * x[1] + A[4] * x[2];
    y[2] = A[2] * x[0] + A[4] * x[1] + A[5] * x[2];
}

static void product(const double *H, const double *x, double *y) {
    for (int i = 0; i < 3; i++) y[i] = H[3 * i] * x[0] + H[3 * i + 1] * x[1] + H[3 * i + 2] * x[2];
}

static void transposed(const double *H, const double *x, double *y) {
    for (int i = 0; i < 3; i++) y[i] = H[i] * x[0] + H[3 + i] * x[1] + H[6 + i] * x[2];
}

/* U = I S */
static void wrench(const Felt *f, int motion, const double *S, double *U) {
    double other[6];
    if (motion != TREE_SHIFTS) {
        symmetric(f->J, S, U);
        transposed(f->H, S, U + 3);
        if (motion == TREE_TURNS) return;
    }
    double *found = motion == TREE_SHIFTS ? U : other;
    product(f->H, S + 3, found);
    symmetric(f->M, S + 3, found + 3);
    if (motion == TREE_SHIFTS) return;
    for (int i = 0; i < 6; i++) U[i] += other[i];
}

/* S' w */
static inline double along(int motion, const double *S, const double *w) {
    const double turns = motion == TREE_SHIFTS ? 0.0 : dot(S, w);
    return motion == TREE_TURNS ? turns : turns + dot(S + 3, w + 3);
}

/* w += S rate */
static inline void add_motion(int motion, const double *S, double rate, double *w) {
    for (int i = motion == TREE_SHIFTS ? 3 : 0; i < (motion == TREE_TURNS ? 3 : 6); i++) w[i] += S[i] * rate;
}

/* A -= x x' factor */
static void subtract_square(double *A, const double *x, double factor) {
    const double a = x[0] * factor, b = x[1] * factor, c = x[2] * factor;
    A[0] -= a * x[0];
    A[1] -= a * x[1];
    A[2] -= a * x[2];
    A[3] -= b * x[1];
    A[4] -= b * x[2];
    A[5] -= c * x[2];
}

static void yield(Felt *f, const double *U, double inverse) {
    subtract_square(f->J, U, inverse);
    subtract_square(f->M, U + 3, inverse);
    for (int i = 0; i < 3; i++) {
        const double a = U[i] * inverse;
        for (int j = 0; j < 3; j++) f->H[3 * i + j] -= a * U[3 + j];
    }
}

/* What a body at an arm r adds to the one that carries it: H + r x M, and J + (r x H')' + r x (H + r x M)'. */
static void add_moved(const Felt *f, const double *r, Felt *sum) {
    const double *M = f->M, columns[3][3] = {{M[0], M[1], M[2]}, {M[1], M[3], M[4]}, {M[2], M[4], M[5]}};
    double moved[9], before[3][3] = {{0.0}}, after[3][3] = {{0.0}};
    for (int j = 0; j < 3; j++) {
        double column[3] = {f->H[j], f->H[3 + j], f->H[6 + j]};
        add_cross(r, columns[j], column);
        for (int i = 0; i < 3; i++) moved[3 * i + j] = column[i];
    }
    for (int i = 0; i < 3; i++) {
        add_cross(r, f->H + 3 * i, before[i]);
        add_cross(r, moved + 3 * i, after[i]);
    }
    for (int i = 0, k = 0; i < 3; i++)
        for (int j = i; j < 3; j++, k++) {
            sum->J[k] += f->J[k] + before[i][j] + after[j][i];
            sum->M[k] += M[k];
        }
    for (int i = 0; i < 9; i++) sum->H[i] += moved[i];
    sum->trace += f->trace + 2.0 * (2.0 * dot(r, f->moment) + f->mass * dot(r, r));
    for (int i = 0; i < 3; i++) sum->moment[i] += f->moment[i] + f->mass * r[i];
    sum->mass += f->mass;
}

static int first(const Tree *tree, int body) { return body > 0 ? tree->ends[body - 1] : 0; }

/* Coordinate k with its factors U and 1 / D; false without inertia. */
static int eliminate(const Tree *tree, int k, Felt *f) {
    const double *S = tree->axes + 6 * k;
    double *U = tree->factors + TREE_FACTORS * k;
    wrench(f, tree->motions[k], S, U);
    const double D = along(tree->motions[k], S, U) + tree->armatures[k];
    const double rigid = f->trace * dot(S, S) + f->mass * dot(S + 3, S + 3);
    U[6] = 1.0 / D;
    if (fabs(D) <= SINGULAR * rigid) return 0;
    yield(f, U, U[6]);
    return 1;
}

int tree_factorise(const Tree *tree, double *scratch) {
    for (int b = 0; b < tree->bodies; b++) begin(tree->inertias + 10 * b, felt(scratch, b));
    for (int b = tree->bodies - 1; b >= 0; b--) {
        Felt *f = felt(scratch, b);
        for (int k = tree->ends[b] - 1; k >= first(tree, b); k--) {
            if (!eliminate(tree, k, f)) return k + 1;
            if (!isfinite(tree->factors[TREE_FACTORS * k + 6])) return LINEAR_SOLVE_NOT_FINITE;
        }
        if (tree->parents[b] >= 0) add_moved(f, tree->arms + 3 * b, felt(scratch, tree->parents[b]));
    }
    return LINEAR_SOLVE_OK;
}

static int is_moved(const Tree *tree, const double *x, int body) {
    for (int k = first(tree, body); k < tree->ends[body]; k++)
        if (x[k] != 0.0) return 1;
    return 0;
}

/* What coordinates of a body leave of the wrench that it takes: its carrier's share. */
static void pass(const Tree *tree, int body, double *x, double *own) {
    for (int k = tree->ends[body] - 1; k >= first(tree, body); k--) {
        const double *S = tree->axes + 6 * k, *U = tree->factors + TREE_FACTORS * k;
        x[k] -= along(tree->motions[k], S, own);
        const double rate = x[k] * U[6];
        for (int i = 0; i < 6; i++) own[i] += U[i] * rate;
    }
}

/* The wrench of a body begins with none. */
static void reach(int body, double *p, double *reached) {
    if (reached[body] != 0.0) return;
    for (int i = 0; i < 6; i++) p[6 * body + i] = 0.0;
    reached[body] = 1.0;
}

void tree_inward(const Tree *tree, double *x, double *scratch) {
    double *p = scratch, *reached = scratch + 6 * tree->bodies; /* p: wrench that each body takes, 6 */
    for (int b = 0; b < tree->bodies; b++) reached[b] = 0.0;
    for (int b = tree->bodies - 1; b >= 0; b--) {
        if (reached[b] == 0.0 && !is_moved(tree, x, b)) continue; /* no force on it, or behind it */
        reach(b, p, reached);
        pass(tree, b, x, p + 6 * b);
        if (tree->parents[b] < 0) continue;
        double *own = p + 6 * b, *carrier = p + 6 * tree->parents[b];
        reach(tree->parents[b], p, reached);
        add_cross(tree->arms + 3 * b, own + 3, carrier);
        for (int i = 0; i < 6; i++) carrier[i] += own[i];
    }
}

void tree_outward(const Tree *tree, double *x, double *scratch) {
    double *a = scratch; /* acceleration of each body, 6 */
    for (int b = 0; b < tree->bodies; b++) {
        const int parent = tree->parents[b];
        double *own = a + 6 * b;
        for (int i = 0; i < 6; i++) own[i] = parent < 0 ? 0.0 : a[6 * parent + i];
        if (parent >= 0) add_cross(own, tree->arms + 3 * b, own + 3);
        for (int k = first(tree, b); k < tree->ends[b]; k++) {
            const double *S = tree->axes + 6 * k, *U = tree->factors + TREE_FACTORS * k;
            x[k] = (x[k] - dot(U, own) - dot(U + 3, own + 3)) * U[6];
            add_motion(tree->motions[k], S, x[k], own);
        }
    }
}

void tree_solve(const Tree *tree, double *scratch) {
    for (int j = 0; j < tree->columns; j++) {
        double *x = tree->X + (size_t)j * (size_t)tree->n;
        tree_inward(tree, x, scratch);
        tree_outward(tree, x, scratch);
    }
}

int tree_is_finite(const Tree *tree) {
    for (int i = 0; i < tree->n * tree->columns; i++)
        if (!isfinite(tree->X[i])) return 0;
    return 1;
}
