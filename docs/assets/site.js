// Tables wider than the page scroll by themselves: let the keyboard reach them.
new MutationObserver(() => {
  for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
    wrap.tabIndex = 0;
    wrap.setAttribute("role", "group");
    wrap.setAttribute("aria-label", "table");
  }
}).observe(document.documentElement, { childList: true, subtree: true });
