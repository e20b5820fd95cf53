"""Figures as files, of a quality fit for a paper.

Every figure is a function `draw_<subject>` that takes plain results and returns a matplotlib
`Figure`; `write_figures` finds out what lies at a path and writes all figures that apply.
"""

from multirater.extras import extra

with extra():
    from multirater.report.figures.agreement_matrix import draw_agreement
    from multirater.report.figures.case_view import CaseView
    from multirater.report.figures.confusion_maps import draw_confusion_maps
    from multirater.report.figures.confusion_matrices import draw_confusion_matrices
    from multirater.report.figures.consensus import draw_consensus
    from multirater.report.figures.consensus_groups import draw_consensus_groups
    from multirater.report.figures.curves import draw_curves
    from multirater.report.figures.drawings import draw_drawings
    from multirater.report.figures.quality import draw_quality
    from multirater.report.figures.recurrences import draw_recurrence_curves, draw_recurrences
    from multirater.report.figures.uncertainty import draw_uncertainty
    from multirater.report.figures.writing import write_figures

__all__ = [
    "CaseView",
    "draw_agreement",
    "draw_confusion_maps",
    "draw_confusion_matrices",
    "draw_consensus",
    "draw_consensus_groups",
    "draw_curves",
    "draw_drawings",
    "draw_quality",
    "draw_recurrence_curves",
    "draw_recurrences",
    "draw_uncertainty",
    "write_figures",
]
