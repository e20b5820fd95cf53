"""Pictures of labels, raters and results: one page, and figures for a paper."""
