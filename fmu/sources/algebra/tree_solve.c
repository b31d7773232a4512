/* An acceleration (alpha, a) of the first body of a subtree requires the wrench [J H; H' M] (alpha, a) if the joints
   behind this body can move freely. Coordinates are eliminated from the leaves inward: with the axis S, U = I S and D
   = S' U, each coordinate reduces the articulated-body inertia I by U U' / D. */

#include "tree_solve.h"

#include "linear_solve.h"
#include "vectors.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Without this, gcc would combine single numbers to vectors by way of memory, which makes solutions a fifth slower. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-vectorize")
#endif

/* Articulated-body inertia below this fraction of the rigid subtree's inertia is rounding error after cancellation. */
static const double SINGULAR = 1e-13;

/* Articulated-body inertia at a body, and an upper bound of the rigid subtree's inertia about any axis. */
typedef struct {
    double J[6], H[9], M[6];       /* J and M: xx, xy, xz, yy, yz, zz; H by rows */
    double mass, moment[3], trace; /* mass, first mass moment, and trace of the inertia of the rigid subtree */
} Felt;

static Felt *felt(double *scratch, int body) { return (Felt *)(void *)scratch + body; }

static inline double dot3(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Returns x - a' b with two dependent operations after the products, because operations of a solution wait for each
   other. */
static inline double less(double x, const double *a, const double *b) {
    return (x - a[0] * b[0]) - (a[1] * b[1] + a[2] * b[2]);
}

/* Computes c += a x b. */
static inline void add_cross(const double *a, const double *b, double *c) {
    c[0] += a[1] * b[2] - a[2] * b[1];
    c[1] += a[2] * b[0] - a[0] * b[2];
    c[2] += a[0] * b[1] - a[1] * b[0];
}

/* Copies a wrench or an acceleration; memcpy would read vectors immediately after single numbers were stored, and
   wait. */
static inline void copy(const double *from, double *to) {
    to[0] = from[0];
    to[1] = from[1];
    to[2] = from[2];
    to[3] = from[3];
    to[4] = from[4];
    to[5] = from[5];
}

/* Computes w += v factor; a loop would keep w in memory. */
static inline void add(const double *v, double factor, double *w) {
    w[0] += v[0] * factor;
    w[1] += v[1] * factor;
    w[2] += v[2] * factor;
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

static inline void symmetric(const double *A, const double *x, double *y) {
    y[0] = A[0] * x[0] + A[1] * x[1] + A[2] * x[2];
    y[1] = A[1] * x[0] + A[3] * x[1] + A[4] * x[2];
    y[2] = A[2] * x[0] + A[4] * x[1] + A[5] * x[2];
}

static inline void product(const double *H, const double *x, double *y) {
    y[0] = dot3(H, x);
    y[1] = dot3(H + 3, x);
    y[2] = dot3(H + 6, x);
}

static inline void transposed(const double *H, const double *x, double *y) {
    y[0] = H[0] * x[0] + H[3] * x[1] + H[6] * x[2];
    y[1] = H[1] * x[0] + H[4] * x[1] + H[7] * x[2];
    y[2] = H[2] * x[0] + H[5] * x[1] + H[8] * x[2];
}

/* Computes U = I S. */
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

/* Returns S' w. */
static inline double along(int motion, const double *S, const double *w) {
    if (motion == TREE_TURNS) return dot3(S, w);
    return motion == TREE_SHIFTS ? dot3(S + 3, w + 3) : dot3(S, w) + dot3(S + 3, w + 3);
}

/* Computes A -= x y', where x y' is symmetric. */
static inline void subtract_square(double *A, const double *x, const double *y) {
    A[0] -= x[0] * y[0];
    A[1] -= x[0] * y[1];
    A[2] -= x[0] * y[2];
    A[3] -= x[1] * y[1];
    A[4] -= x[1] * y[2];
    A[5] -= x[2] * y[2];
}

/* Reduces an articulated-body inertia by the share U U' / D of a coordinate. */
static inline void yield(Felt *f, const double *share, const double *U) {
    subtract_square(f->J, share, U);
    subtract_square(f->M, share + 3, U + 3);
    add(U + 3, -share[0], f->H);
    add(U + 3, -share[1], f->H + 3);
    add(U + 3, -share[2], f->H + 6);
}

/* Components of the cross product r x a. */
static inline double cross_x(const double *r, const double *a) { return r[1] * a[2] - r[2] * a[1]; }
static inline double cross_y(const double *r, const double *a) { return r[2] * a[0] - r[0] * a[2]; }
static inline double cross_z(const double *r, const double *a) { return r[0] * a[1] - r[1] * a[0]; }

/* Adds the articulated-body inertia of a body with the offset vector r to that of its parent. H becomes G = H + r x
   M. J becomes J + (r x h_i)_j + (r x g_j)_i, computed for the upper half, with the rows h of H and g of G. */
static void add_moved(const Felt *f, const double *r, Felt *sum) {
    const double *M = f->M, *H = f->H;
    const double x[3] = {M[0], M[1], M[2]}, y[3] = {M[1], M[3], M[4]}, z[3] = {M[2], M[4], M[5]};
    const double G[9] = {H[0] + cross_x(r, x), H[1] + cross_x(r, y), H[2] + cross_x(r, z),
                         H[3] + cross_y(r, x), H[4] + cross_y(r, y), H[5] + cross_y(r, z),
                         H[6] + cross_z(r, x), H[7] + cross_z(r, y), H[8] + cross_z(r, z)};
    sum->J[0] += f->J[0] + cross_x(r, H) + cross_x(r, G);
    sum->J[1] += f->J[1] + cross_y(r, H) + cross_x(r, G + 3);
    sum->J[2] += f->J[2] + cross_z(r, H) + cross_x(r, G + 6);
    sum->J[3] += f->J[3] + cross_y(r, H + 3) + cross_y(r, G + 3);
    sum->J[4] += f->J[4] + cross_z(r, H + 3) + cross_y(r, G + 6);
    sum->J[5] += f->J[5] + cross_z(r, H + 6) + cross_z(r, G + 6);
    for (int k = 0; k < 6; k++) sum->M[k] += M[k];
    for (int i = 0; i < 9; i++) sum->H[i] += G[i];
    sum->trace += f->trace + 2.0 * (2.0 * dot3(r, f->moment) + f->mass * dot3(r, r));
    add(f->moment, 1.0, sum->moment);
    add(r, f->mass, sum->moment);
    sum->mass += f->mass;
}

static int first(const Tree *tree, int body) { return body > 0 ? tree->ends[body - 1] : 0; }

/* Eliminates coordinate k and stores its factors U / D and 1 / D; returns 0 if it has no inertia. */
static int eliminate(const Tree *tree, int k, Felt *f) {
    const double *S = tree->axes + 6 * k;
    double *factors = tree->factors + TREE_FACTORS * k, U[6];
    wrench(f, tree->motions[k], S, U);
    const double D = along(tree->motions[k], S, U) + tree->armatures[k];
    const double rigid = f->trace * dot3(S, S) + f->mass * dot3(S + 3, S + 3);
    const double e = factors[6] = 1.0 / D;
    if (fabs(D) <= SINGULAR * rigid) return 0;
    const double share[6] = {U[0] * e, U[1] * e, U[2] * e, U[3] * e, U[4] * e, U[5] * e};
    copy(share, factors);
    yield(f, share, U);
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

/* ---- Solutions of several columns at a time, because each column is a chain of dependent operations ------------- */

static int is_moved(const Tree *tree, int count, double *const *x, int body) {
    for (int k = first(tree, body); k < tree->ends[body]; k++)
        for (int j = 0; j < count; j++)
            if (x[j][k] != 0.0) return 1;
    return 0;
}

/* Reduces the wrench of a body by the shares of its coordinates; the remainder acts on the parent. */
static void pass(const Tree *tree, int body, double *x, double *wrench) {
    double own[6];
    copy(wrench, own);
    for (int k = tree->ends[body] - 1; k >= first(tree, body); k--) {
        const double *S = tree->axes + 6 * k, *share = tree->factors + TREE_FACTORS * k;
        double left = tree->motions[k] == TREE_TURNS ? x[k] : less(x[k], S + 3, own + 3);
        if (tree->motions[k] != TREE_SHIFTS) left = less(left, S, own);
        x[k] = left;
        add(share, left, own);
        add(share + 3, left, own + 3);
    }
    copy(own, wrench);
}

void tree_inward(const Tree *tree, int count, double *const *x, double *scratch) {
    const int size = 6 * count; /* size of the wrenches of a body for all columns */
    double *p = scratch, *reached = scratch + size * tree->bodies; /* 1 if a coordinate of the subtree has a force */
    memset(scratch, 0, (size_t)((size + 1) * tree->bodies) * sizeof *scratch);
    for (int b = tree->bodies - 1; b >= 0; b--) {
        const int parent = tree->parents[b];
        if (reached[b] == 0.0 && !is_moved(tree, count, x, b)) continue;
        if (parent >= 0) reached[parent] = 1.0;
        for (int j = 0; j < count; j++) {
            double *own = p + size * b + 6 * j, *carrier = p + size * parent + 6 * j;
            pass(tree, b, x[j], own);
            if (parent < 0) continue;
            add_cross(tree->arms + 3 * b, own + 3, carrier);
            add(own, 1.0, carrier);
            add(own + 3, 1.0, carrier + 3);
        }
    }
}

/* Computes the acceleration of a body from that of its parent and its own coordinates. */
static void follow(const Tree *tree, int body, double *x, const double *carrier, double *own) {
    double a[6] = {0.0};
    if (carrier != NULL) {
        copy(carrier, a);
        add_cross(a, tree->arms + 3 * body, a + 3);
    }
    for (int k = first(tree, body); k < tree->ends[body]; k++) {
        const double *S = tree->axes + 6 * k, *share = tree->factors + TREE_FACTORS * k;
        const double rate = less(less(x[k], share + 3, a + 3), share, a);
        x[k] = rate;
        if (tree->motions[k] != TREE_SHIFTS) add(S, rate, a);
        if (tree->motions[k] != TREE_TURNS) add(S + 3, rate, a + 3);
    }
    copy(a, own);
}

void tree_outward(const Tree *tree, int count, double *const *x, double *scratch) {
    const int size = 6 * count; /* size of the accelerations of a body for all columns */
    for (int b = 0; b < tree->bodies; b++) {
        const int parent = tree->parents[b];
        for (int j = 0; j < count; j++)
            follow(tree, b, x[j], parent < 0 ? NULL : scratch + size * parent + 6 * j, scratch + size * b + 6 * j);
    }
}

int tree_columns(const Tree *tree, int first, double **x) {
    int count = 0;
    for (; count < TREE_TOGETHER && first + count < tree->columns; count++)
        x[count] = tree->X + (size_t)(first + count) * (size_t)tree->n;
    return count;
}

/* Replaces x by D^-1 x. */
static void divide(const Tree *tree, double *x) {
    for (int k = 0; k < tree->n; k++) x[k] *= tree->factors[TREE_FACTORS * k + 6];
}

void tree_solve(const Tree *tree, double *scratch) {
    double *x[TREE_TOGETHER];
    for (int j = 0, count; (count = tree_columns(tree, j, x)) > 0; j += count) {
        tree_inward(tree, count, x, scratch);
        for (int i = 0; i < count; i++) divide(tree, x[i]);
        tree_outward(tree, count, x, scratch);
    }
}

int tree_is_finite(const Tree *tree) { return are_finite(tree->n * tree->columns, tree->X); }
