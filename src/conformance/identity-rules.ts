import { isLabelValue } from '../k8s/name-syntax.ts';
import { messageOf } from '../errors.ts';
import { ApiError } from '../kube/client/errors.ts';
import { BACKEND_CONTRACT_VERSION } from '../backends/backend.ts';
import type { BackendFacts, ClusterProbe } from '../backends/cluster.ts';
import { broken, type ConformanceRule } from './check.ts';
import { settled, type Subject } from './subject.ts';

/** Rules without which no other rule of a backend can be checked. */
export const STANDS: readonly string[] = ['contract-version', 'backend-name', 'init'];

const UNKNOWN_KEY = 'noBackendHasThisSetting';

export const identityRules: readonly ConformanceRule<Subject>[] = [
  {
    name: 'name',
    rule: 'the name and former names of the factory are label values of at most 63 characters',
    look: ({ factory }) => {
      for (const name of [factory.name, ...Object.keys(factory.aliases ?? {})]) {
        if (!isLabelValue(name)) throw broken(`${JSON.stringify(name)} is no label value`);
      }
      return undefined;
    },
  },
  {
    name: 'create',
    rule: 'create() makes a backend from the settings it is given',
    look: ({ factory, settings }) => {
      try {
        factory.create(settings);
      } catch (thrown) {
        throw broken(
          `create() threw "${messageOf(thrown)}": where it needs settings, give them with --config or settings.config`,
        );
      }
      return undefined;
    },
  },
  {
    name: 'contract-version',
    rule: `contractVersion is ${BACKEND_CONTRACT_VERSION}`,
    needs: ['create'],
    look: ({ factory, settings }) => {
      const version: number = factory.create(settings).contractVersion;
      if (version !== BACKEND_CONTRACT_VERSION) throw broken(`it is ${JSON.stringify(version)}`);
      return undefined;
    },
  },
  {
    name: 'backend-name',
    rule: 'the backend has the name of its factory, and schedulerName is one that a Pod may have',
    needs: ['name', 'create'],
    look: ({ factory, settings }) => {
      const { name, schedulerName } = factory.create(settings);
      if (name !== factory.name)
        throw broken(`the factory is ${JSON.stringify(factory.name)}, the backend ${JSON.stringify(name)}`);
      if (!isLabelValue(schedulerName)) throw broken(`schedulerName is ${JSON.stringify(schedulerName)}`);
      return undefined;
    },
  },
  {
    name: 'config-keys',
    rule: 'create() refuses a config key that it does not know, and names it',
    needs: ['create'],
    look: ({ factory, settings }) => {
      try {
        factory.create({ ...settings, config: { ...settings.config, [UNKNOWN_KEY]: true } });
      } catch (thrown) {
        const said = messageOf(thrown);
        if (!said.includes(UNKNOWN_KEY)) throw broken(`it threw "${said}", which does not name the key`);
        return undefined;
      }
      throw broken(
        `create() took config.${UNKNOWN_KEY}: a misspelt setting would pass unnoticed; refuse what you do not know (readProfileConfig does)`,
      );
    },
  },
  {
    name: 'init',
    rule: 'init() says what it found or why the backend cannot work here, in time, also where there is no cluster or nothing in it',
    needs: ['create'],
    look: async ({ factory, settings, given }) => {
      const notes: string[] = [];
      const clusters: readonly (readonly [string, ClusterProbe | undefined])[] = [
        ['without a cluster', undefined],
        ['on an empty cluster', emptyCluster],
        ['where the API server forbids everything', forbiddingCluster],
        ...(given.cluster === undefined
          ? []
          : [['on the cluster that it was given', given.cluster] as const]),
      ];
      for (const [where, cluster] of clusters) {
        const backend = factory.create(settings);
        let facts: Partial<BackendFacts> | undefined;
        try {
          facts = await settled('init()', (signal) => backend.init({ cluster, signal }));
        } catch (thrown) {
          const reason = messageOf(thrown);
          if (/did not answer within/.test(reason)) throw broken(`${where}: ${reason}`);
          if (reason === '' || !(thrown instanceof Error))
            throw broken(`${where}: it rejects with ${JSON.stringify(reason)}, which is no reason`);
          if (cluster !== undefined && cluster === given.cluster) throw broken(`${where}: ${reason}`);
          notes.push(`${where} it is not ready: ${reason}`);
          continue;
        }
        // A module may be plain JavaScript, so the types guarantee nothing.
        if (typeof facts?.version !== 'string' || facts.version === '')
          throw broken(`${where}: it resolves without a version: give { version: '…' }, what it will speak`);
        const { notices = [] } = facts;
        if (
          !Array.isArray(notices) ||
          !notices.every((notice) => typeof notice === 'string' && notice !== '')
        )
          throw broken(`${where}: notices are not a list of texts`);
      }
      return notes[0];
    },
  },
];

const none = (): Promise<undefined> => Promise.resolve(undefined);

/** A cluster that serves no API. */
const emptyCluster: ClusterProbe = {
  versions: () => Promise.resolve([]),
  resources: none,
  crdSchema: none,
  read: none,
  dryRunCreate: () => Promise.reject(refusal(404, 'the server could not find the requested resource')),
};

const refusal = (status: number, message: string): ApiError =>
  new ApiError('the API server of the kit', { status, message });

const no = (): Promise<never> => Promise.reject(refusal(403, 'a right is missing'));
const forbiddingCluster: ClusterProbe = {
  versions: no,
  resources: no,
  crdSchema: no,
  read: no,
  dryRunCreate: no,
};
