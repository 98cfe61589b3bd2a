import { GATE_POD_GANG_PENDING, LABEL_GANG, LABEL_POD_CLIQUE, LABEL_POD_GANG } from '../../src/api/names.ts';

/** The gang that every benchmarked Pod is of. */
export const NAMESPACE = 'inference';
export const GANG = 'llama-0';
export const GROUP = 'decode';

export type Size = 2 | 8 | 64 | 512;

/** What a review is like. */
export interface Body {
  /** KiB on the wire. */
  readonly size: Size;
  /** Without: a Pod whose creator's fields an API server does not keep, so that more of the length is the Pod. */
  readonly managedFields: boolean;
  /** A Pod that can run under Flux: it has a command and a number. */
  readonly hpc?: boolean;
  /** A Pod that leaves its gang to Muster: it says only that it is for one, and its ReplicaSet has labelled it. */
  readonly asks?: true;
  /** No review: what Karmada asks of a workload of that length. */
  readonly interpreted?: true;
}

/** The usual one. The 2 KiB review is a Pod so plain that nothing more fits. */
export const bodyOf = (size: Size): Body => ({ size, managedFields: size > 2 });

/** More than any one part adds, its share of managedFields included. */
const PART_BYTES = 700;

type Mutable = Record<string, unknown>;

/**
 * An AdmissionReview for the CREATE of a gang Pod, of `size` KiB to the byte: what an API server sends after its own
 * defaulting. Large Pods have more of what real ones have more of: containers, environment,
 * volumes, annotations. Only uid, names and the note depend on `variant`, and all variants have the same length.
 */
export function reviewOf({ size, managedFields, hpc, asks }: Body, variant = 0): Mutable {
  const target = size * 1024;
  const pod = barePod(size, variant);
  if (hpc === true) underFlux(pod, variant);
  if (asks === true) ofWorkload(pod);
  const review = envelope(pod, variant);
  const metadata = pod['metadata'] as Mutable;
  const measure = (): number => {
    if (managedFields) metadata['managedFields'] = managedFieldsOf(pod);
    return Buffer.byteLength(JSON.stringify(review));
  };
  let length = measure();
  // What a part adds in bytes is only known afterwards, so as many are added at a time as surely still fit.
  for (let part = 0; length < target - PART_BYTES; length = measure()) {
    const fitting = Math.floor((target - length) / PART_BYTES);
    for (const end = part + fitting; part < end; part += 1) addPart(pod, part);
  }
  const annotations = metadata['annotations'] as Mutable;
  annotations['example.com/note'] = '';
  length = measure();
  if (length > target) throw new Error(`a review of ${size} KiB became ${length} bytes`);
  annotations['example.com/note'] = 'n'.repeat(target - length);
  return review;
}

/** What the prepared Pod has that the received one had not: checked in the first answers of every server. */
export const expected = {
  schedulerName: 'kai-scheduler',
  gate: GATE_POD_GANG_PENDING,
  annotations: {
    'kai.scheduler/podgang': GANG,
    'kai.scheduler/podgroup': GROUP,
    'kai.scheduler/skip-podgrouper': 'true',
    'pod-group-name': `${NAMESPACE}.${GANG}`,
  },
  labels: { 'kai.scheduler/subgroup-name': GROUP },
};

/** The operations that lead there, for the bare server, which makes no decision. */
export const fixedPatch: readonly { op: string; path: string; value: unknown }[] = [
  { op: 'replace', path: '/spec/schedulerName', value: expected.schedulerName },
  { op: 'add', path: '/spec/schedulingGates', value: [{ name: expected.gate }] },
  ...Object.entries(expected.annotations).map(([key, value]) => addition('annotations', key, value)),
  ...Object.entries(expected.labels).map(([key, value]) => addition('labels', key, value)),
];

function addition(map: string, key: string, value: string): { op: string; path: string; value: string } {
  return { op: 'add', path: `/metadata/${map}/${key.replaceAll('/', '~1')}`, value };
}

const envelope = (pod: Mutable, variant: number): Mutable => {
  const kind = { group: '', version: 'v1', kind: 'Pod' };
  const resource = { group: '', version: 'v1', resource: 'pods' };
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: `705ab4f5-6393-11e8-b7cc-42010a80${String(variant).padStart(4, '0')}`,
      kind,
      resource,
      requestKind: kind,
      requestResource: resource,
      namespace: NAMESPACE,
      operation: 'CREATE',
      userInfo: {
        username: 'system:serviceaccount:kube-system:replicaset-controller',
        uid: '0e4b1f1c-7c0c-4f4e-9df4-1f3f7d1a2b3c',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
      },
      object: pod,
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    },
  };
};

/** More containers where there is more to hold, as real Pods have. */
const CONTAINERS: Readonly<Record<Size, number>> = { 2: 1, 8: 1, 64: 4, 512: 8 };

function ofWorkload({ metadata }: Mutable): void {
  const { labels } = metadata as { labels: Record<string, string> };
  Reflect.deleteProperty(labels, LABEL_POD_GANG);
  Reflect.deleteProperty(labels, LABEL_POD_CLIQUE);
  labels[LABEL_GANG] = 'true';
  labels['pod-template-hash'] = '6f9d5c7b8d';
}

function barePod(size: Size, variant: number): Mutable {
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      generateName: `${GANG}-${GROUP}-`,
      namespace: NAMESPACE,
      labels: {
        app: `a${String(variant).padStart(4, '0')}`,
        [LABEL_POD_GANG]: GANG,
        [LABEL_POD_CLIQUE]: GROUP,
      },
      annotations: { 'prometheus.io/scrape': 'true' },
      ...(size > 2 ? { ownerReferences: [owner] } : {}),
    },
    spec: {
      containers: Array.from({ length: CONTAINERS[size] }, (_, index) => container(index, size > 2)),
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: 'default',
      securityContext: {},
      schedulerName: 'default-scheduler',
      ...(size > 2
        ? { tolerations, enableServiceLinks: true, preemptionPolicy: 'PreemptLowerPriority' }
        : {}),
    },
    status: {},
  };
}

/** A Pod of an Indexed Job: of one template with the others, and with a host name and a token of its own. */
function underFlux(pod: Mutable, variant: number): void {
  const spec = pod['spec'] as { containers: Container[]; volumes?: Mutable[] } & Mutable;
  spec['hostname'] = `${GROUP}-${variant}`;
  const name = `kube-api-access-${String(variant).padStart(5, 'x')}`;
  const serviceAccountToken = { expirationSeconds: 3607, path: 'token' };
  spec.volumes = [{ name, projected: { sources: [{ serviceAccountToken }], defaultMode: 420 } }];
  const mount = { name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' };
  spec.containers = spec.containers.map((one) => ({
    ...one,
    command: ['python3', '-m', 'serve'],
    volumeMounts: [mount],
  }));
}

const owner = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name: 'llama-0-decode-6f9d5c7b8d',
  uid: '3a2d8f0e-58d3-4b55-9d0a-7a5f0b5f3c11',
  controller: true,
  blockOwnerDeletion: true,
};

const tolerations = ['not-ready', 'unreachable'].map((state) => ({
  key: `node.kubernetes.io/${state}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}));

interface Container extends Mutable {
  env?: Mutable[];
  volumeMounts?: Mutable[];
}

const container = (index: number, full: boolean): Container => ({
  name: `worker-${index}`,
  image: 'registry.example.com/serving/vllm:0.9.1',
  ...(full
    ? {
        args: ['--model', '/models/llama', '--tensor-parallel-size', '8'],
        ports: [{ name: 'http', containerPort: 8000 + index, protocol: 'TCP' }],
      }
    : {}),
  resources: { limits: { 'nvidia.com/gpu': '8' }, requests: { cpu: '16', 'nvidia.com/gpu': '8' } },
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
});

/** Four in six parts are environment, one a volume with its mount, one an annotation that holds JSON. */
function addPart(pod: Mutable, part: number): void {
  const spec = pod['spec'] as { volumes?: Mutable[]; containers: Container[] };
  const target = spec.containers[part % spec.containers.length];
  const number = String(part).padStart(4, '0');
  if (target === undefined) return;
  if (part % 6 === 4) {
    const name = `config-${number}`;
    // An API server sends no empty list, so each comes to be with its first item.
    (spec.volumes ??= []).push({ name, configMap: { name: `llama-settings-${number}`, defaultMode: 420 } });
    (target.volumeMounts ??= []).push({ name, readOnly: true, mountPath: `/etc/serving/${name}` });
  } else if (part % 6 === 5) {
    const annotations = (pod['metadata'] as Mutable)['annotations'] as Mutable;
    annotations[`sidecar.example.com/rule-${number}`] = JSON.stringify({
      match: { port: 8000, path: `/v1/models/${number}` },
      retry: { attempts: 3, backoff: '250ms' },
    });
  } else {
    (target.env ??= []).push(
      part % 4 === 3
        ? {
            name: `SECRET_${number}`,
            valueFrom: { secretKeyRef: { name: 'llama-keys', key: `key-${number}` } },
          }
        : {
            name: `SERVING_OPTION_${number}`,
            value: `http://cache-${number}.inference.svc.cluster.local:8080`,
          },
    );
  }
}

const managedFieldsOf = (pod: Mutable): Mutable[] => [
  {
    manager: 'kube-controller-manager',
    operation: 'Update',
    apiVersion: 'v1',
    time: '2026-01-15T10:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: fieldsOf({
      metadata: { ...(pod['metadata'] as Mutable), namespace: undefined, managedFields: undefined },
      spec: pod['spec'],
    }),
  },
];

/** What names an item of a list in FieldsV1, by the key that the list is merged on. */
const KEYS = ['containerPort', 'mountPath', 'uid', 'name'] as const;

/**
 * FieldsV1 of an object: for each field that a manager set, its path as nested objects. `f:` is a field, `k:` an item
 * of a list that is merged by key; plain values and lists that are replaced as a whole end in `{}`. Nearly half of a
 * Pod on the wire is this, and nobody who counts only the lines of a manifest expects it.
 */
export function fieldsOf(value: unknown): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) {
      const key = typeof item === 'object' && item !== null ? KEYS.find((name) => name in item) : undefined;
      if (key === undefined) continue;
      const name = JSON.stringify({ [key]: (item as Record<string, unknown>)[key] });
      fields[`k:${name}`] = { '.': {}, ...fieldsOf(item) };
    }
    return fields;
  }
  if (typeof value !== 'object' || value === null) return fields;
  for (const [name, child] of Object.entries(value)) {
    if (child !== undefined) fields[`f:${name}`] = fieldsOf(child);
  }
  return fields;
}
