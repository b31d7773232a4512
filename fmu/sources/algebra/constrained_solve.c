/* Gauss-Jordan elimination with complete pivoting turns C X = W into X_d = R W - G X_i. The m dependent unknowns X_d
   are those for which their part of C is best conditioned, and R is the inverse of this part. With V = [1; -G], the
   independent unknowns X_i satisfy V' M V X_i = V' (F - M [0; R W]). The dependent rows of the equations give the
   multipliers.

   Pivots are chosen for C as it acts on sqrt(M_jj) X_j, so that light unknowns depend on heavy ones. Otherwise the
   inertia of heavy unknowns would dominate that of light unknowns in V' M V (forty times more rounding error in a
   linkage with elastic parts). */

#include "constrained_solve.h"

#include "symmetric_solve.h"
#include "vectors.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* Smallest relevant pivot. The rows of C have length 1 at first, so a smaller pivot is the rounding error of a
   dependent row. */
static const double DEPENDENT = 1e-10;
static const double LIGHTEST = 1e-16; /* smallest relevant inertia, relative to that of the heaviest unknown */

typedef struct {
    const Constrained *system;
    int n, m, columns, free;
    double *T;               /* [C, 1], m x (n + m); after the elimination G and unit columns, then R */
    double *A;               /* V' M V, free x free */
    double *B;               /* V' (F - M [0; R W]), then X_i; free x columns */
    double *y;               /* n numbers: 1 / sqrt(M_jj), then a column of M V or of F - M [0; R W] */
    double *d;               /* m numbers of the dependent unknowns */
    double *unknowns;        /* n indices: dependent unknowns in the order of the rows of T, then independent unknowns */
} Work;

static double *column(double *matrix, int rows, int j) { return matrix + (size_t)j * (size_t)rows; }

static const double *given(const double *matrix, int rows, int j) { return matrix + (size_t)j * (size_t)rows; }

static Work lay_out(const Constrained *s) {
    Work w = {.system = s, .n = s->n, .m = s->m, .columns = s->columns, .free = s->n - s->m};
    w.T = s->work;
    w.A = w.T + w.m * (w.n + w.m);
    w.B = w.A + w.free * w.free;
    w.y = w.B + w.free * w.columns;
    w.d = w.y + w.n;
    w.unknowns = w.d + w.m;
    return w;
}

/* Index of the unknown in the k-th place. */
static int unknown(const Work *w, int k) { return (int)w->unknowns[k]; }

/* ---- Elimination of C ----------------------------------------------------------------------------------------- */

/* Sets y_j = 1 / sqrt(M_jj); unknowns without inertia have the smallest relevant inertia. */
static void weigh(Work *w) {
    double heaviest = 0.0;
    for (int j = 0; j < w->n; j++) heaviest = larger(heaviest, given(w->system->M, w->n, j)[j]);
    for (int j = 0; j < w->n; j++)
        w->y[j] = 1.0 / sqrt(larger(given(w->system->M, w->n, j)[j], larger(LIGHTEST * heaviest, DBL_MIN)));
}

/* Sets T = [C, 1] with each row divided by the length of the row of C. */
static int fill(Work *w) {
    const size_t m = (size_t)w->m, n = (size_t)w->n;
    memcpy(w->T, w->system->C, m * n * sizeof *w->T);
    memset(w->T + m * n, 0, m * m * sizeof *w->T);
    for (int i = 0; i < w->m; i++) {
        double square = 0.0;
        for (int j = 0; j < w->n; j++) square += column(w->T, w->m, j)[i] * column(w->T, w->m, j)[i];
        if (!isfinite(square)) return LINEAR_SOLVE_NOT_FINITE;
        if (square == 0.0) return CONSTRAINED_SOLVE_DEPENDENT;
        const double factor = 1.0 / sqrt(square);
        for (int j = 0; j < w->n; j++) column(w->T, w->m, j)[i] *= factor;
        column(w->T, w->m, w->n + i)[i] = factor;
    }
    for (int j = 0; j < w->n; j++) w->unknowns[j] = j;
    return LINEAR_SOLVE_OK;
}

static void swap_rows(Work *w, int i, int k) {
    for (int j = 0; j < w->n + w->m; j++) {
        double *entries = column(w->T, w->m, j);
        const double held = entries[i];
        entries[i] = entries[k];
        entries[k] = held;
    }
}

/* Moves the element of the remaining C with the largest weighted magnitude to row k, and its unknown to the k-th
   place. Returns the largest unweighted magnitude. */
static double pivot(Work *w, int k) {
    double largest = 0.0, best = 0.0;
    int row = k, place = k;
    for (int j = k; j < w->n; j++) {
        const double *entries = column(w->T, w->m, unknown(w, j)), weight = w->y[unknown(w, j)];
        for (int i = k; i < w->m; i++) {
            const double size = fabs(entries[i]);
            largest = larger(largest, size);
            if (weight * size > best) {
                best = weight * size;
                row = i;
                place = j;
            }
        }
    }
    const double chosen = w->unknowns[place];
    w->unknowns[place] = w->unknowns[k];
    w->unknowns[k] = chosen;
    if (row != k) swap_rows(w, row, k);
    return largest;
}

/* Eliminates the pivot's column in all rows except the k-th. */
static void eliminate(Work *w, int k) {
    const double *own = column(w->T, w->m, unknown(w, k));
    const double inverse = 1.0 / own[k];
    for (int j = 0; j < w->n + w->m; j++) {
        double *entries = column(w->T, w->m, j);
        const double f = entries[k] * inverse;
        if (f == 0.0 || entries == own) continue;
        for (int i = 0; i < w->m; i++) entries[i] -= own[i] * f;
        entries[k] = f;
    }
}

/* Returns the length of the shortest row of C. */
static double shortest_row(const Work *w) {
    double least = INFINITY;
    for (int i = 0; i < w->m; i++) {
        double square = 0.0;
        for (int j = 0; j < w->n; j++) square += pow(given(w->system->C, w->m, j)[i], 2.0);
        least = fmin(least, square);
    }
    return sqrt(least);
}

static int partition(Work *w) {
    const int code = fill(w);
    if (code != LINEAR_SOLVE_OK) return code;
    weigh(w);
    double least = INFINITY;
    for (int k = 0; k < w->m; k++) {
        const double size = pivot(w, k);
        if (!(size > DEPENDENT)) return CONSTRAINED_SOLVE_DEPENDENT;
        least = fmin(least, size);
        eliminate(w, k);
    }
    if (w->system->regularity != NULL) *w->system->regularity = least * shortest_row(w);
    return LINEAR_SOLVE_OK;
}

/* ---- Equations of the independent unknowns ------------------------------------------------------------------- */

/* Returns the column of G of the a-th independent unknown. */
static const double *G(const Work *w, int a) { return column(w->T, w->m, unknown(w, w->m + a)); }

/* Computes y -= M_d x, where M_d consists of the columns of M of the dependent unknowns. */
static void subtract_inertia(const Work *w, const double *x) {
    for (int k = 0; k < w->m; k++) {
        const double *entries = given(w->system->M, w->n, unknown(w, k)), f = x[k];
        if (f == 0.0) continue;
        subtract(w->n, entries, f, w->y);
    }
}

/* Returns element a of V' y; d contains the dependent part of y. */
static double reduced(const Work *w, int a) {
    const double *g = G(w, a);
    double sum = w->y[unknown(w, w->m + a)];
    for (int k = 0; k < w->m; k++) sum -= g[k] * w->d[k];
    return sum;
}

static void gather(Work *w) {
    for (int k = 0; k < w->m; k++) w->d[k] = w->y[unknown(w, k)];
}

/* Computes the upper triangle of A = V' M V. */
static void reduce_inertia(Work *w) {
    for (int j = 0; j < w->free; j++) {
        memcpy(w->y, given(w->system->M, w->n, unknown(w, w->m + j)), (size_t)w->n * sizeof *w->y);
        subtract_inertia(w, G(w, j));
        gather(w);
        for (int a = 0; a <= j; a++) column(w->A, w->free, j)[a] = reduced(w, a);
    }
}

/* Sets d = R W for column j of W. */
static void place_dependent(Work *w, int j) {
    const double *wanted = given(w->system->W, w->m, j);
    memset(w->d, 0, (size_t)w->m * sizeof *w->d);
    for (int i = 0; i < w->m; i++) {
        const double *r = column(w->T, w->m, w->n + i), f = wanted[i];
        if (f == 0.0) continue;
        for (int k = 0; k < w->m; k++) w->d[k] += r[k] * f;
    }
}

/* Computes B = V' (F - M [0; R W]) and stores R W in the dependent elements of X. */
static void reduce_forces(Work *w) {
    for (int j = 0; j < w->columns; j++) {
        double *x = column(w->system->X, w->n, j);
        place_dependent(w, j);
        for (int k = 0; k < w->m; k++) x[unknown(w, k)] = w->d[k];
        memcpy(w->y, given(w->system->F, w->n, j), (size_t)w->n * sizeof *w->y);
        subtract_inertia(w, w->d);
        gather(w);
        for (int a = 0; a < w->free; a++) column(w->B, w->free, j)[a] = reduced(w, a);
    }
}

/* Computes X_d = R W - G X_i; returns 0 if a number is not finite. */
static int complete(Work *w) {
    double sum = 0.0;
    for (int j = 0; j < w->columns; j++) {
        double *x = column(w->system->X, w->n, j);
        for (int a = 0; a < w->free; a++) {
            const double *g = G(w, a), own = column(w->B, w->free, j)[a];
            x[unknown(w, w->m + a)] = own;
            for (int k = 0; k < w->m; k++) x[unknown(w, k)] -= g[k] * own;
        }
        for (int i = 0; i < w->n; i++) sum += fabs(x[i]);
    }
    return isfinite(sum);
}

/* Computes L = R' (M X - F)_d. */
static void find_multipliers(Work *w) {
    for (int j = 0; j < w->columns; j++) {
        const double *x = column(w->system->X, w->n, j), *force = given(w->system->F, w->n, j);
        for (int k = 0; k < w->m; k++) {
            /* M is symmetric, so the column is also the row */
            const double *entries = given(w->system->M, w->n, unknown(w, k));
            w->d[k] = dot(w->n, entries, x) - force[unknown(w, k)];
        }
        for (int i = 0; i < w->m; i++) {
            const double *r = column(w->T, w->m, w->n + i);
            double sum = 0.0;
            for (int k = 0; k < w->m; k++) sum += r[k] * w->d[k];
            column(w->system->L, w->m, j)[i] = sum;
        }
    }
}

int constrained_solve(const Constrained *system) {
    Work w = lay_out(system);
    int code = partition(&w);
    if (code != LINEAR_SOLVE_OK) return code;
    reduce_inertia(&w);
    reduce_forces(&w);
    code = symmetric_solve(w.free, w.columns, w.A, w.B);
    if (code != LINEAR_SOLVE_OK) return code;
    if (!complete(&w)) return LINEAR_SOLVE_NOT_FINITE;
    find_multipliers(&w);
    return LINEAR_SOLVE_OK;
}

void constrained_solve_again(const Constrained *system) {
    Work w = lay_out(system);
    reduce_forces(&w);
    symmetric_solve_again(w.free, w.columns, w.A, w.B);
    complete(&w);
    find_multipliers(&w);
}

int constrained_are_pivots(const Constrained *system) {
    const Work w = lay_out(system);
    return linear_are_pivots(w.n, w.unknowns);
}
