import { z } from 'zod';
import { labels, objects } from './kubernetes-schema.ts';

const enabled = (description: string) => z.boolean().default(false).describe(description);
const found = labels.default({}).describe('Labels by which your Prometheus selects it.');
const interval = z
  .string()
  .regex(/^\d+(ms|s|m|h)$/)
  .default('30s')
  .describe('How often each replica is asked.');
const scraping = {
  ...{ labels: found, interval },
  relabelings: objects.default([]).describe('As in its endpoint.'),
  metricRelabelings: objects.default([]).describe('As in its endpoint.'),
};

/** What the operator of Prometheus and Grafana are told. */
export const monitoring = z
  .strictObject({
    podMonitor: z
      .strictObject({ enabled: enabled('A PodMonitor for the operator of Prometheus.'), ...scraping })
      .prefault({}),
    serviceMonitor: z
      .strictObject({
        enabled: enabled('A ServiceMonitor in its place, with a headless Service muster-metrics.'),
        ...scraping,
      })
      .prefault({}),
    prometheusRule: z
      .strictObject({ enabled: enabled('The alerts of docs/alerts.md.'), labels: found })
      .prefault({}),
    dashboards: z
      .strictObject({
        enabled: enabled("Grafana's dashboards, a ConfigMap each."),
        labels: labels
          .default({ grafana_dashboard: '1' })
          .describe('Labels by which the sidecar of Grafana finds them.'),
        annotations: labels.default({}).describe('What that sidecar reads, such as a folder.'),
      })
      .prefault({}),
  })
  .prefault({});
