"""Adjudication: an expert decides the disputed cases of a study in the browser.

`gold_folder` keeps every decision at once, `study` knows what is disputed and what was fused,
`content` says it to the page, `acts` turns what the page asks for into decisions, `server` serves
it on this machine only.
"""

from multirater.adjudication.server import serve_adjudication

__all__ = ["serve_adjudication"]
