"""Do two columns order the models alike? Rank correlations with intervals."""

from triathlon_site.agreement._coefficients import drawn, kendall, spearman
from triathlon_site.agreement._correlation import Correlation, correlate, correlations, matrix

__all__ = ["Correlation", "correlate", "correlations", "drawn", "kendall", "matrix", "spearman"]
