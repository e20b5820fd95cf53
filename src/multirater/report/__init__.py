"""A page one can look at: who errs where, and whether the result can be trusted."""

from multirater.report.report import write_report
from multirater.report.serve import serve_report

__all__ = ["serve_report", "write_report"]
