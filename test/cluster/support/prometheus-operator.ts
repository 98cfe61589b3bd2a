import { stubDefinition } from './cert-manager.ts';

/** As much of the operator of Prometheus as it takes to store its objects. */
export const prometheusOperator = ['PodMonitor', 'ServiceMonitor', 'PrometheusRule'].map((kind) =>
  stubDefinition('monitoring.coreos.com', kind),
);
