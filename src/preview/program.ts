/** Entry point of the process that makes forecasts. It has watches of its own and shares no memory with the loop. */
import { messageOf } from '../errors.ts';
import { findConnection } from '../kube/client/find-connection.ts';
import { createKubeClient } from '../kube/client/http-client.ts';
import { ClusterWatch } from './cluster-watch.ts';
import { Forecaster } from './forecaster.ts';
import type { Asked, PreviewSetting, ForecastMessage } from './question.ts';

const setting = JSON.parse(process.argv[2] ?? '') as PreviewSetting;
const say = (said: ForecastMessage): void => void process.send?.(said);
// The process ends with Muster. It ignores signals, which Muster receives as well, so that dry runs get forecasts until
// Muster ends.
process.on('disconnect', () => process.exit());
process.on('SIGTERM', () => undefined);
process.on('SIGINT', () => undefined);

const client = createKubeClient(await findConnection(setting));
let told: string | undefined = '';
const watch = await ClusterWatch.start(client, () => {
  const { missing } = watch;
  if (missing === told) return;
  told = missing;
  say({ what: 'state', ready: missing === undefined, reason: missing ?? '' });
});
const forecaster = new Forecaster(watch, setting);

process.on('message', (asked: Asked) => {
  let warnings: readonly string[];
  try {
    warnings = forecaster.answer(asked);
  } catch (thrown) {
    warnings = [`forecast: none: ${messageOf(thrown)}`];
  }
  say({ what: 'forecast', id: asked.id, warnings });
});
