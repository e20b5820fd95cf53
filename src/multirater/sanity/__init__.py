"""What is odd about a study before anything is made of it: one file per kind of finding."""

from multirater.sanity.odd_study import say_findings, study_findings

__all__ = ["say_findings", "study_findings"]
