import type { Kind } from '../kind.ts';
import { uncountedTemplate } from '../single-template.ts';

/** Makes a Job for each time; those of several times may run beside each other. */
export const cronJob: Kind = {
  ...{ group: 'batch', version: 'v1', kind: 'CronJob', plural: 'cronjobs' },
  single: uncountedTemplate('spec.jobTemplate.spec.template'),
  children: [
    // Its name ends with the minute.
    { group: 'batch', version: 'v1', kind: 'Job', suffix: '-0', spec: 'spec.jobTemplate.spec' },
  ],
};
