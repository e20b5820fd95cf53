"""From the layouts others publish to a data set: one module or folder per source."""
