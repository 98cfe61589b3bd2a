import type { Row } from './row.ts';
import { CONTROLLERS } from './senders/controllers.ts';
import { KUBE_SCHEDULER } from './senders/kube-scheduler.ts';
import { KUBELET } from './senders/kubelet.ts';
import { PEOPLE } from './senders/people.ts';
import { SCHEDULERS } from './senders/schedulers.ts';

/** What goes on in a cluster beside Muster. A policy or a webhook that is added brings rows that it looks at. */
export const ROWS: readonly Row[] = [...KUBE_SCHEDULER, ...KUBELET, ...CONTROLLERS, ...SCHEDULERS, ...PEOPLE];
