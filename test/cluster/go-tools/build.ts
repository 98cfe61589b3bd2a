// `npm run go-tools [helm] [kwok]`: finds or builds the programs that are named, or all, and prints where each one is.
import { GoToolUnavailable, isGoTool, locateGoTool } from './go-tools.ts';

const asked = process.argv.slice(2);
const named = asked.length > 0 ? asked : ['helm', 'kwok'];
for (const name of named) {
  try {
    if (!isGoTool(name))
      throw new GoToolUnavailable(`no such program is built here: ${name} (there are: helm, kwok)`);
    process.stdout.write(`${name}\t${await locateGoTool(name, { build: true })}\n`);
  } catch (error) {
    if (!(error instanceof GoToolUnavailable)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
