"""Do two columns order the models alike? Rank correlations with intervals."""

from triathlon_site.agreement._correlation import Correlation, Correlator, correlate, leave_one_out

__all__ = ["Correlation", "Correlator", "correlate", "leave_one_out"]
