/* History of a multistep method: a polynomial, stored as Nordsieck vectors h^j y^(j) / j!. */

#ifndef NORDSIECK_H
#define NORDSIECK_H

enum { MOST_ORDER = 5 };

/* Part of the FMU state and therefore only numbers. */
typedef struct {
    double order;                 /* current order; 0: no history */
    double step;                  /* step size h of the vectors, s */
    double wait;                  /* steps until a change of order is considered */
    double spans[MOST_ORDER + 2]; /* lengths of the previous steps, latest first, s */
    double last_spread;           /* spread of the formula of the stored correction; 0: none */
} Past;

typedef struct {
    Past *past;
    int n;
    double *vectors[MOST_ORDER + 1]; /* n numbers each; at lower orders, the last vector stores a correction */
} Nordsieck;

/* Coefficients of a step of length past->step. */
typedef struct {
    double corrections[MOST_ORDER + 1]; /* correction of each vector relative to that of y */
    /* Error constants: one order lower, relative to the last vector; at this order, relative to the correction; one
       order higher, relative to the change of corrections. */
    double lower, same, higher;
    double spread; /* scale of the correction, which makes corrections of two steps comparable */
} Formula;

Formula nordsieck_formula(const Past *past);

void nordsieck_predict(const Nordsieck *nordsieck);
void nordsieck_undo(const Nordsieck *nordsieck); /* undoes a prediction */
/* Adds a correction of y, n numbers, to the predicted history. */
void nordsieck_correct(const Nordsieck *nordsieck, const Formula *formula, const double *correction);
/* Stores the correction for a higher order. */
void nordsieck_keep(const Nordsieck *nordsieck, const Formula *formula, const double *correction);

void nordsieck_scale(const Nordsieck *nordsieck, double factor); /* changes the step size */
void nordsieck_raise_order(const Nordsieck *nordsieck);          /* uses the stored correction */
void nordsieck_lower_order(const Nordsieck *nordsieck);

#endif
