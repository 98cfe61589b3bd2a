/** The program of the process that forecasts: it has watches of its own and shares nothing with the loop. */
import { messageOf } from '../errors.ts';
import { findConnection } from '../kube/client/find-connection.ts';
import { createKubeClient } from '../kube/client/http-client.ts';
import { ClusterWatch } from './cluster-watch.ts';
import { Forecaster } from './forecaster.ts';
import type { Asked, PreviewSetting, ForecastMessage } from './question.ts';

const setting = JSON.parse(process.argv[2] ?? '') as PreviewSetting;
const say = (said: ForecastMessage): void => void process.send?.(said);
// It is of no use without Muster. A signal to both is Muster's to answer: dry runs are told something until it ends.
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
