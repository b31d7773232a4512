/* With x = [p, v, z] and p' = v, the first rows are p = b_p + g v. Substitution into the other rows yields (1 - g J_v
   - g^2 J_p, -g J_z) (v, z) = b + g J_p b_p. Without z, the factorisation takes an eighth of the operations (Hairer
   and Wanner, Solving ODEs II, 2nd ed., section IV.8, on systems of second order). */

#include "stage_matrix.h"

#include "linear_solve.h"

#include <stddef.h>

static int left(const StageMatrix *m) { return m->n - m->positions; }

static double *pivots_of(const StageMatrix *m) { return m->work + (size_t)left(m) * (size_t)left(m); }

/* Returns the elements of column j of J in the rows that remain after the elimination of positions. */
static const double *column(const StageMatrix *m, int j) { return m->J + (size_t)j * (size_t)m->n + m->positions; }

int stage_matrix_factor(const StageMatrix *m, double g) {
    const int size = left(m);
    for (int j = 0; j < size; j++) {
        const double *own = column(m, m->positions + j);
        double *target = m->work + (size_t)j * (size_t)size;
        for (int i = 0; i < size; i++) target[i] = -g * own[i];
        if (j < m->positions) {
            const double *position = column(m, j);
            for (int i = 0; i < size; i++) target[i] -= g * g * position[i];
        }
        target[j] += 1.0;
    }
    return linear_solve(size, 0, m->work, NULL, pivots_of(m), pivots_of(m) + size);
}

void stage_matrix_solve(const StageMatrix *m, double g, double *b) {
    const int size = left(m);
    double *rest = b + m->positions;
    for (int j = 0; j < m->positions; j++) {
        const double *own = column(m, j), factor = g * b[j];
        for (int i = 0; i < size; i++) rest[i] += factor * own[i];
    }
    linear_solve_again(size, 1, m->work, pivots_of(m), rest);
    for (int j = 0; j < m->positions; j++) b[j] += g * rest[j];
}
