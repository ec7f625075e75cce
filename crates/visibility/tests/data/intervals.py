"""Writes intervals.csv: random cases computed by statsmodels, which the tests compare with.

Needs Python 3 and the package statsmodels 0.15 (pip install statsmodels). Run: python3 intervals.py > intervals.csv
"""
import random

from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

random.seed(20_261_128)
print("hits1,n1,hits2,n2,wilson_low,wilson_high,newcombe_low,newcombe_high")
for case in range(200):
    n1, n2 = (random.choice((1, 2, 5, 20, 100, 1000, 20000)) * random.randint(1, 9) for _ in range(2))
    k1 = random.choice((0, n1, random.randint(0, n1), random.randint(0, n1)))
    k2 = random.choice((0, n2, random.randint(0, n2), random.randint(0, n2)))
    low, high = proportion_confint(k1, n1, alpha=0.05, method="wilson")
    # the difference is the first minus the second
    d_low, d_high = confint_proportions_2indep(k2, n2, k1, n1, compare="diff", method="newcomb", alpha=0.05)
    print(f"{k1},{n1},{k2},{n2},{float(low)!r},{float(high)!r},{float(d_low)!r},{float(d_high)!r}")
