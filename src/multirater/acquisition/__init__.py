"""Who should label what next: beliefs about cases and raters, and what a label would change."""
