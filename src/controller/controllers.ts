import { gangs } from './gangs/controller.ts';
import { preemption } from './preemption/controller.ts';
import { schedulerObjects } from './scheduler-objects/controller.ts';
import { workloads } from './workloads/controller.ts';
import type { ControllerFactory } from './watch/shared.ts';

/**
 * Everything that Muster does in a cluster. A further controller is a folder here and a line in this list: it brings its
 * own watches, queue and metrics, and is started, led and stopped with the others.
 */
export const controllers: readonly ControllerFactory[] = [schedulerObjects, gangs, workloads, preemption];
