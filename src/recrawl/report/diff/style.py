"""How a page that shows differences looks, by day and by night, wide and narrow.

Pure.
"""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1c2024; --quiet: #5f6b76; --rule: #d9dfe5; --band: #f5f7f9;
  --gone: #fdecec; --gone-word: #f6b5b5; --come: #e7f6ea; --come-word: #a6dcb2;
  --moved: #eaf1fc; --moved-edge: #4a7fd6; --link: #1d5fc4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --ink: #e3e7ea; --quiet: #9aa6b1; --rule: #30373e; --band: #1c2126;
    --gone: #341c1e; --gone-word: #7c3034; --come: #16301d; --come-word: #25653a;
    --moved: #18263d; --moved-edge: #5b8fe0; --link: #86b1f5;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1rem; max-width: 90rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
a { color: var(--link); }
h1 { margin: 0; font-size: 1.15rem; }
header p { margin: .25rem 0 1rem; padding: 0; color: var(--quiet); }
p { margin: 0; padding: .2rem .6rem .2rem 1.6rem; position: relative; }
p::before {
  position: absolute; left: .5rem; top: .2rem; color: var(--quiet);
  font-family: ui-monospace, monospace;
}
small, .way { color: var(--quiet); }
main { border: 1px solid var(--rule); border-radius: .4rem; overflow: clip; }
.pair { display: grid; grid-template-columns: 1fr; }
.pair + .pair, .same + .pair, details + .pair { border-top: 1px solid var(--rule); }
.pair + .same, .pair + details { border-top: 1px solid var(--rule); }
.sides { padding: .3rem .6rem; gap: 0 1rem; border: 0; }
.old p.changed, p.removed { background: var(--gone); }
.new p.changed, p.added { background: var(--come); }
.old p.changed::before, p.removed::before { content: "\\2212"; }
.new p.changed::before, p.added::before { content: "+"; }
del, ins { text-decoration: none; }
p.changed del { background: var(--gone-word); border-radius: .2rem; text-decoration: line-through; }
p.changed ins { background: var(--come-word); border-radius: .2rem; }
.moved {
  scroll-margin-top: 20vh; border-left: .25rem solid var(--moved-edge); background: var(--moved);
}
.moved p.changed { background: none; }
.moved p.changed::before { content: ""; }
.moved:target { outline: .15rem solid var(--moved-edge); outline-offset: -.15rem; }
.way { font-size: .875rem; }
.way a { white-space: nowrap; }
.old .moved { color: var(--quiet); }
summary { padding: .3rem .6rem; background: var(--band); color: var(--quiet); cursor: pointer; }
@media (min-width: 50rem) {
  .pair { grid-template-columns: 1fr 1fr; }
  .pair > .new { border-left: 1px solid var(--rule); }
  .sides { padding: .3rem 0; gap: 0; }
  .sides > div { padding-left: 1.6rem; }
}
@media print {
  .pair { break-inside: avoid; }
}
"""
