/* Whether numbers are finite. */

#ifndef FINITE_H
#define FINITE_H

/* Of n numbers: 0 x is no number where x is not finite. In two sums, of which compilers make one of pairs. */
static inline int are_finite(int n, const double *x) {
    double sum[2] = {0.0};
    int i = 0;
    for (; i + 2 <= n; i += 2)
        for (int lane = 0; lane < 2; lane++) sum[lane] += 0.0 * x[i + lane];
    if (i < n) sum[0] += 0.0 * x[i];
    return sum[0] + sum[1] == 0.0;
}

#endif
