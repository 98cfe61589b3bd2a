// `npm run control-plane`: finds or builds every program of the control plane and prints where each one is.
import { BINARIES, ControlPlaneUnavailable, locateBinaries } from './binaries.ts';

try {
  const binaries = await locateBinaries({ need: BINARIES, build: true });
  for (const binary of BINARIES) process.stdout.write(`${binary}\t${binaries[binary]}\n`);
} catch (error) {
  if (!(error instanceof ControlPlaneUnavailable)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
