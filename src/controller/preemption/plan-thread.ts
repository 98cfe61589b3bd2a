import { parentPort } from 'node:worker_threads';
import type { JsonObject } from '../../json/json.ts';
import { consider } from './consider.ts';
import type { ToThread } from './planner.ts';

const objects: JsonObject[] = [];

parentPort?.on('message', (message: ToThread) => {
  if ('question' in message) parentPort?.postMessage(consider(objects, message.question));
  else for (const object of message.objects) objects.push(object);
});
