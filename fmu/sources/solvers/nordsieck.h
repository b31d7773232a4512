/* What a multistep method knows of the past: a polynomial through it, as Nordsieck's vectors h^j y^(j) / j!. */

#ifndef NORDSIECK_H
#define NORDSIECK_H

enum { MOST_ORDER = 5 };

/* Numbers alone, so that it can be a part of the instance's state. */
typedef struct {
    double order;                 /* 0: nothing is known */
    double step;                  /* s, h of the vectors */
    double wait;                  /* steps until another order is thought of */
    double spans[MOST_ORDER + 2]; /* s, lengths of the steps before, the last one first */
    double last_spread;           /* of the formula of the correction that is kept for a higher order; 0: none */
} Past;

typedef struct {
    Past *past;
    int n;
    double *vectors[MOST_ORDER + 1]; /* n numbers each; the last one keeps a correction at lower orders */
} Nordsieck;

/* Coefficients of a step of length past->step. */
typedef struct {
    double corrections[MOST_ORDER + 1]; /* of each vector, in terms of that of y */
    /* Error at one order less, of the last vector; at this one, of the correction; and at one more, of the change of
       corrections. */
    double lower, same, higher;
    double spread; /* of the correction: what makes those of two steps comparable */
} Formula;

Formula nordsieck_formula(const Past *past);

void nordsieck_predict(const Nordsieck *nordsieck);
void nordsieck_undo(const Nordsieck *nordsieck); /* a prediction */
/* Adds a correction of y, n numbers, to what is predicted, and makes it the past. */
void nordsieck_correct(const Nordsieck *nordsieck, const Formula *formula, const double *correction);
/* Keeps the correction for a higher order. */
void nordsieck_keep(const Nordsieck *nordsieck, const Formula *formula, const double *correction);

void nordsieck_scale(const Nordsieck *nordsieck, double factor); /* the step */
void nordsieck_raise_order(const Nordsieck *nordsieck);          /* by the correction that is kept */
void nordsieck_lower_order(const Nordsieck *nordsieck);

#endif
