import type { Kind } from '../kind.ts';
import { uncountedTemplate } from '../single-template.ts';

/** A CronJob creates a Job for each scheduled time; Jobs of different times may run concurrently. */
export const cronJob: Kind = {
  ...{ group: 'batch', version: 'v1', kind: 'CronJob', plural: 'cronjobs' },
  single: uncountedTemplate('spec.jobTemplate.spec.template'),
  children: [
    // The Job's real name ends with the scheduled minute.
    { group: 'batch', version: 'v1', kind: 'Job', suffix: '-0', spec: 'spec.jobTemplate.spec' },
  ],
};
