import type { KindOfObject } from './judgement.ts';

/** Kinds that the API server consults at admission: webhook configurations and policies. */

export const WEBHOOKS: Omit<KindOfObject, 'check'> = {
  group: 'webhooks',
  strict: true,
  inCluster: false,
  missing: 'its objects do not come to Muster',
  why: 'the API server does not ask Muster as it would be asked',
  rows: [
    // Kinds of workloads may be added to this webhook's rules; check-workloads-webhook.ts checks it.
    {
      field: /^webhooks\[workloads\.muster\.dev\]\.(rules|matchConditions|failurePolicy|timeoutSeconds)/,
      weight: 'free',
    },
    { field: /^webhooks\[[^\]]*\]\.clientConfig(\.(url|caBundle|service))?$/, weight: 'free' },
    {
      field: /\.failurePolicy$/,
      weight: 'warning',
      why: 'while Muster is down its objects come in unprepared',
    },
    {
      field: /\.timeoutSeconds$/,
      weight: ({ found }) => (typeof found === 'number' && found >= 2 && found <= 10 ? 'note' : 'warning'),
      why: '2 to 10 leave room for a second try within one request',
    },
    {
      field: /\.reinvocationPolicy$/,
      weight: 'warning',
      why: 'Muster is not called again when a later webhook changes the object',
    },
    { field: /\.clientConfig/, weight: 'problem', why: 'the API server calls somebody else, or nobody' },
    { field: /^webhooks\[[^\]]*muster\.dev\]$/, weight: 'problem', why: 'its objects do not come to Muster' },
    {
      field: /\.rules/,
      weight: 'problem',
      why: 'what is not sent is not prepared or judged, what is sent besides waits for Muster when it is down',
    },
    {
      field: /\.namespaceSelector/,
      weight: 'problem',
      why: 'in the namespaces that it leaves out nobody prepares Pods or judges them, and those that it adds wait for Muster when it is down',
    },
    {
      field: /\.(objectSelector|matchConditions)/,
      weight: 'problem',
      why: 'objects that it leaves out nobody prepares or judges, and those that it adds wait for Muster when it is down',
    },
    { field: /\.sideEffects$/, weight: 'problem', why: 'dry runs are refused, or not asked about' },
    {
      // The API server calls another program's webhook in the same configuration as well.
      field: /^webhooks\[(?![^\]]*muster\.dev\])/,
      weight: 'warning',
      why: 'it is not Muster’s',
    },
  ],
};

export const POLICIES: Omit<KindOfObject, 'check'> = {
  group: 'policies',
  strict: true,
  inCluster: false,
  missing: 'without it the API server does not keep by itself what it keeps, with Muster up or down',
  why: 'the API server keeps something else than it would keep',
  rows: [
    // check-policies.ts compares the trusted accounts with the configuration.
    { field: /^spec\.variables\[trusted\]/, weight: 'free' },
    {
      field: /^spec\.failurePolicy$/,
      weight: 'problem',
      why: 'where it cannot be evaluated everything passes',
    },
    {
      field: /\.(message|messageExpression)$/,
      weight: 'warning',
      why: 'refusals read otherwise than documented',
    },
    {
      field: /^spec\.(matchConstraints|matchConditions|matchResources)/,
      weight: 'problem',
      why: 'what it leaves out passes unjudged',
    },
    {
      field: /^spec\.validationActions$/,
      weight: 'problem',
      why: 'what it refuses passes with a word or without',
    },
    {
      field: /^spec\.(validations|variables|mutations)/,
      weight: 'problem',
      why: 'it keeps something else than what Muster relies on',
    },
  ],
};
