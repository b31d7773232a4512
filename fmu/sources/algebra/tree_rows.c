/* With M = L D L' of the tree, y = D^1/2 L' X, z = D^-1/2 L^-1 F and Z = D^-1/2 L^-1 C', the system is
       y - Z L = z,  Z' y = W.
   Householder reflections turn Z into R. They divide y into a part that W determines, R' y_1 = W, and a free part
   y_2 = z_2 (Golub and Van Loan, Matrix Computations, 4th ed., section 5.2). The matrix C M^-1 C' is never formed,
   because its condition number is the square of that of R. */

#include "tree_rows.h"

#include "constrained_solve.h"
#include "vectors.h"

#include <math.h>
#include <stddef.h>

/* Smallest part of a column of Z outside the span of the others, relative to its length; smaller ones are rounding
   errors. */
static const double DEPENDENT = 1e-10;

typedef struct {
    const TreeRows *system;
    int n, m;
    double *Z;        /* n x m: reflections on and below the diagonal, R above the diagonal */
    double *diagonal; /* m diagonal elements of R */
    double *factors;  /* m factors 2 / v'v of the reflections v */
    double *roots;    /* n square roots of the elements of D^-1 */
} Work;

static Work lay_out(const TreeRows *s) {
    Work w = {.system = s, .n = s->tree.n, .m = s->m};
    w.Z = s->work;
    w.diagonal = w.Z + w.n * w.m;
    w.factors = w.diagonal + w.m;
    w.roots = w.factors + w.m;
    return w;
}

static double *column(const Work *w, int k) { return w->Z + (size_t)k * (size_t)w->n; }

static void reflect(const Work *w, int k, double *y) {
    const double *v = column(w, k) + k, along = dot(w->n - k, v, y + k);
    if (along != 0.0) subtract(w->n - k, v, along * w->factors[k], y + k);
}

static void scale(const Work *w, double *x) {
    for (int i = 0; i < w->n; i++) x[i] *= w->roots[i];
}

/* Copies a row of C to a column of C'. */
static void fill(const Work *w, int row) {
    double *z = column(w, row);
    for (int j = 0; j < w->n; j++) z[j] = w->system->C[(size_t)j * (size_t)w->m + (size_t)row];
}

static double *right(const Work *w, int j) { return w->system->tree.X + (size_t)j * (size_t)w->n; }

/* Replaces the first `rows` columns of C' by those of Z, and F by z, several columns at a time. */
static void reduce(const Work *w, int rows, double *scratch) {
    const int all = rows + w->system->tree.columns;
    for (int j = 0; j < all;) {
        double *x[TREE_TOGETHER];
        int count = 0;
        for (; count < TREE_TOGETHER && j < all; count++, j++) x[count] = j < rows ? column(w, j) : right(w, j - rows);
        tree_inward(&w->system->tree, count, x, scratch);
        for (int i = 0; i < count; i++) scale(w, x[i]);
    }
}

/* Applies the preceding reflections to the k-th column and computes the k-th reflection, which leaves a column of R. */
static int eliminate(const Work *w, int k) {
    double *z = column(w, k);
    const double length = sqrt(dot(w->n, z, z));
    if (!isfinite(length)) return LINEAR_SOLVE_NOT_FINITE;
    for (int i = 0; i < k; i++) reflect(w, i, z);
    const double left = sqrt(dot(w->n - k, z + k, z + k));
    if (!(left > DEPENDENT * length)) return CONSTRAINED_SOLVE_DEPENDENT;
    if (w->system->regularity != NULL) *w->system->regularity = fmin(*w->system->regularity, left);
    w->diagonal[k] = z[k] > 0.0 ? -left : left;
    w->factors[k] = 1.0 / (left * (left + fabs(z[k])));
    z[k] -= w->diagonal[k];
    return LINEAR_SOLVE_OK;
}

/* Solves R' y = l in place. */
static void substitute(const Work *w, double *l) {
    for (int k = 0; k < w->m; k++) l[k] = (l[k] - dot(k, column(w, k), l)) / w->diagonal[k];
}

/* Solves R x = l in place. */
static void substitute_back(const Work *w, double *l) {
    for (int k = w->m - 1; k >= 0; k--) {
        l[k] /= w->diagonal[k];
        subtract(k, column(w, k), l[k], l);
    }
}

/* Replaces z by y, and W in l by the multipliers. */
static void constrain(const Work *w, double *z, double *l) {
    for (int k = 0; k < w->m; k++) reflect(w, k, z);
    substitute(w, l);
    for (int k = 0; k < w->m; k++) {
        const double wanted = l[k];
        l[k] = wanted - z[k];
        z[k] = wanted;
    }
    substitute_back(w, l);
    for (int k = w->m - 1; k >= 0; k--) reflect(w, k, z);
}

/* Replaces y by X. */
static void expand(const Work *w, double *scratch) {
    const Tree *tree = &w->system->tree;
    double *x[TREE_TOGETHER];
    for (int j = 0, count; (count = tree_columns(tree, j, x)) > 0; j += count) {
        for (int i = 0; i < count; i++) scale(w, x[i]);
        tree_outward(tree, count, x, scratch);
    }
}

static void finish(const Work *w, double *scratch) {
    for (int j = 0; j < w->system->tree.columns; j++)
        constrain(w, right(w, j), w->system->L + (size_t)j * (size_t)w->m);
    expand(w, scratch);
}

/* Computes the square roots of D^-1. Returns LINEAR_SOLVE_OK, or the number of a coordinate with negative inertia. */
static int take_roots(const Work *w) {
    const double *inverse = w->system->tree.factors + TREE_FACTORS - 1;
    for (int k = 0; k < w->n; k++)
        if (inverse[TREE_FACTORS * k] < 0.0) return k + 1;
    for (int k = 0; k < w->n; k++) w->roots[k] = sqrt(inverse[TREE_FACTORS * k]);
    return LINEAR_SOLVE_OK;
}

static int solve_rows(const Work *w, double *scratch) {
    int code = take_roots(w);
    if (code != LINEAR_SOLVE_OK) return code;
    for (int k = 0; k < w->m; k++) fill(w, k);
    if (w->system->regularity != NULL) *w->system->regularity = INFINITY;
    reduce(w, w->m, scratch);
    for (int k = 0; k < w->m && code == LINEAR_SOLVE_OK; k++) code = eliminate(w, k);
    if (code == LINEAR_SOLVE_OK) finish(w, scratch);
    return code;
}

int tree_rows_solve(const TreeRows *system, double *scratch) {
    const Work w = lay_out(system);
    const int code = tree_factorise(&system->tree, scratch);
    if (code != LINEAR_SOLVE_OK) return code;
    if (w.m > 0) return solve_rows(&w, scratch);
    tree_solve(&system->tree, scratch);
    return code;
}

void tree_rows_solve_again(const TreeRows *system, double *scratch) {
    const Work w = lay_out(system);
    if (w.m == 0) {
        tree_solve(&system->tree, scratch);
        return;
    }
    reduce(&w, 0, scratch);
    finish(&w, scratch);
}
