/** Colours have a contrast of 4.5 to 1 or more in both schemes; no state is told by colour alone. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --row: 4.5rem;
  --text: light-dark(#1a1d21, #e6e8eb);
  --quiet: light-dark(#50575f, #aab2bb);
  --back: light-dark(#ffffff, #15181c);
  --line: light-dark(#d5d9de, #343a41);
  --link: light-dark(#0b57a4, #86bdf5);
  --good: light-dark(#17632f, #7ed398);
  --bad: light-dark(#a3161b, #ff9d98);
  --wait: light-dark(#7a4b00, #f0c26a);
  --stale: light-dark(#fdecc8, #4a3500);
}
* { box-sizing: border-box; }
html, body, #page, .page { height: 100%; }
body {
  margin: 0; color: var(--text); background: var(--back);
  font: 1rem/1.25rem system-ui, sans-serif;
}
.page, main, .gangs { display: flex; flex-direction: column; min-height: 0; }
main, .gangs { flex: 1; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: -3px; }
h1:focus-visible { outline: none; }
nav { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: .5rem 1rem; border-bottom: 1px solid var(--line); }
nav a { padding: .25rem 0; min-height: 24px; }
nav a[aria-current] { font-weight: bold; color: var(--text); }
form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; padding: .5rem 1rem; }
input, select, button {
  font: inherit; color: inherit; background: var(--back);
  border: 1px solid var(--quiet); border-radius: 4px; padding: .35rem .5rem; min-width: 0;
}
button { cursor: pointer; min-height: 24px; }
button[aria-disabled=true] { color: var(--quiet); cursor: progress; }
input { flex: 1 1 12rem; }
summary { padding: .25rem 0; cursor: pointer; }
details label { display: block; padding: .25rem 0; }
output { color: var(--quiet); }
.stale { background: var(--stale); padding: .5rem 1rem; margin: 0; }
.rows { flex: 1; overflow-y: auto; min-height: 0; contain: strict; border-top: 1px solid var(--line); }
.all { position: relative; }
.row { position: absolute; left: 0; right: 0; top: 0; height: var(--row); contain: strict; }
.row a {
  display: grid; grid-template-columns: minmax(0, 1fr) auto; align-content: center; column-gap: 1rem; height: 100%;
  padding: .35rem 1rem; color: inherit; text-decoration: none; border-bottom: 1px solid var(--line);
}
.row a:hover { background: color-mix(in srgb, var(--link) 12%, transparent); }
.name, .why, .counts { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.name { font-weight: bold; color: var(--link); }
.why, .counts { grid-column: 1 / -1; }
.counts { color: var(--quiet); font-size: .875rem; }
.state { white-space: nowrap; color: var(--wait); }
.state-running, .state-succeeded, .state-ready, .state-placed, .state-finished { color: var(--good); }
.state-missing, .state-failed, .state-notready { color: var(--bad); }
.gang { padding: .5rem 1rem; overflow-y: auto; overflow-wrap: anywhere; }
h1 { font-size: 1.25rem; line-height: 1.5rem; }
dl { display: flex; flex-wrap: wrap; gap: .5rem 2rem; }
dt { color: var(--quiet); font-size: .875rem; }
dd { margin: 0; }
.wide { overflow-x: auto; margin: 1rem 0; overflow-wrap: normal; }
table { border-collapse: collapse; min-width: 36rem; width: 100%; }
img { display: block; min-width: 36rem; width: 100%; max-width: 60rem; }
caption { text-align: left; font-weight: bold; padding: .25rem 0; }
th, td { text-align: left; vertical-align: top; padding: .25rem 1rem .25rem 0; border-bottom: 1px solid var(--line); }
td { overflow-wrap: break-word; }
td:last-child { min-width: 18rem; }
td:first-child, time, .word { white-space: nowrap; }
th { color: var(--quiet); font-weight: normal; white-space: nowrap; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`;
