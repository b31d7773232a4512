/* Backward differentiation formulas with variable step size in Nordsieck form, with a fixed leading coefficient.

   Methods: Byrne and Hindmarsh, A polyalgorithm for the numerical solution of ordinary differential equations, ACM
   Trans. Math. Software 1 (1975); Jackson and Sacks-Davis, An alternative implementation of variable step-size
   multistep formulas for stiff ODEs, ACM Trans. Math. Software 6 (1980). Error constants and changes of order follow
   Brown, Byrne and Hindmarsh, VODE: a variable-coefficient ODE solver, SIAM J. Sci. Stat. Comput. 10 (1989). */

#include "nordsieck.h"

#include <math.h>
#include <string.h>

static int order_of(const Past *past) { return (int)past->order; }

/* Multiplies a polynomial l in x by 1 + x / xi, which raises its degree to `degree`. */
static void multiply(double *l, int degree, double inverse) {
    for (int i = degree; i > 0; i--) l[i] += l[i - 1] * inverse;
}

/* Sets the error constants from the coefficients of the formula (alpha) and of its predictor (predicted). */
static void set_errors(const Past *past, double span, double alpha, double predicted, double xi_inverse,
                       double leading_inverse, Formula *f) {
    const int q = order_of(past);
    const double last = f->corrections[q], a1 = 1.0 - predicted + alpha, a2 = 1.0 + q * a1;
    f->same = fabs(a1 / (alpha * a2));
    f->spread = fabs(a2 * leading_inverse / (last * xi_inverse));
    f->lower = 1.0;
    if (q > 1) {
        const double a3 = alpha + 1.0 / q, a4 = predicted + xi_inverse;
        f->lower = fabs(leading_inverse / last * (1.0 - a4 + a3) / a3);
    }
    const double xi = past->step / (span + past->spans[q - 1]);
    const double a5 = alpha - 1.0 / (q + 1), a6 = predicted - xi;
    f->higher = fabs((1.0 - a6 + a5) / a2 / (xi * (q + 2) * a5));
}

Formula nordsieck_formula(const Past *past) {
    const int q = order_of(past);
    Formula f = {.corrections = {1.0, 1.0}};
    double *l = f.corrections, alpha = -1.0, predicted = -1.0, span = past->step, xi_inverse = 1.0;
    double leading_inverse = 1.0;
    for (int j = 2; j < q; j++) {
        span += past->spans[j - 2];
        alpha -= 1.0 / j;
        multiply(l, j, past->step / span);
    }
    if (q > 1) {
        alpha -= 1.0 / q;
        leading_inverse = -l[1] - alpha;
        span += past->spans[q - 2];
        xi_inverse = past->step / span;
        predicted = -l[1] - xi_inverse;
        multiply(l, q, leading_inverse);
    }
    set_errors(past, span, alpha, predicted, xi_inverse, leading_inverse, &f);
    return f;
}

static void add(int n, double factor, const double *restrict values, double *restrict sum) {
    for (int i = 0; i < n; i++) sum[i] += factor * values[i];
}

/* Multiplies the vectors by Pascal's triangle, forward or backward. */
static void shift(const Nordsieck *s, double sign) {
    for (int k = 1; k <= order_of(s->past); k++)
        for (int j = order_of(s->past); j >= k; j--) add(s->n, sign, s->vectors[j], s->vectors[j - 1]);
}

void nordsieck_predict(const Nordsieck *s) { shift(s, 1.0); }

void nordsieck_undo(const Nordsieck *s) { shift(s, -1.0); }

void nordsieck_correct(const Nordsieck *s, const Formula *f, const double *correction) {
    Past *past = s->past;
    for (int j = 0; j <= order_of(past); j++) add(s->n, f->corrections[j], correction, s->vectors[j]);
    for (int i = MOST_ORDER + 1; i > 0; i--) past->spans[i] = past->spans[i - 1];
    past->spans[0] = past->step;
}

void nordsieck_keep(const Nordsieck *s, const Formula *f, const double *correction) {
    memcpy(s->vectors[MOST_ORDER], correction, (size_t)s->n * sizeof *correction);
    s->past->last_spread = f->spread;
}

void nordsieck_scale(const Nordsieck *s, double factor) {
    double power = factor;
    for (int j = 1; j <= order_of(s->past); j++, power *= factor)
        for (int i = 0; i < s->n; i++) s->vectors[j][i] *= power;
    s->past->step *= factor;
}

/* Computes the vector of the new order from the stored correction. */
void nordsieck_raise_order(const Nordsieck *s) {
    const int q = order_of(s->past);
    double l[MOST_ORDER + 1] = {0.0, 0.0, 1.0}, alpha = -1.0, sum = 1.0, product = 1.0, span = s->past->step;
    double last = 1.0;
    for (int j = 1; j < q; j++) {
        span += s->past->spans[j];
        const double xi = span / s->past->step;
        product *= xi;
        alpha -= 1.0 / (j + 1);
        sum += 1.0 / xi;
        for (int i = j + 2; i >= 2; i--) l[i] = l[i] * last + l[i - 1];
        last = xi;
    }
    double *top = s->vectors[q + 1];
    const double *kept = s->vectors[MOST_ORDER], factor = (-alpha - sum) / product;
    for (int i = 0; i < s->n; i++) top[i] = factor * kept[i];
    for (int j = 2; j <= q; j++) add(s->n, l[j], top, s->vectors[j]);
    s->past->order += 1.0;
}

void nordsieck_lower_order(const Nordsieck *s) {
    const int q = order_of(s->past);
    double l[MOST_ORDER + 1] = {0.0, 0.0, 1.0}, span = 0.0;
    for (int j = 1; j <= q - 2; j++) {
        span += s->past->spans[j - 1];
        for (int i = j + 2; i >= 2; i--) l[i] = l[i] * (span / s->past->step) + l[i - 1];
    }
    for (int j = 2; j < q; j++) add(s->n, -l[j], s->vectors[q], s->vectors[j]);
    s->past->order -= 1.0;
}
