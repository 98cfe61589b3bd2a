import { changed, soundBackend, type BrokenBackend } from './sound.ts';

export const brokenIdentity: readonly BrokenBackend[] = [
  {
    breaks: 'name',
    how: 'a name with a space',
    says: '"my cart" is no label value',
    factory: changed(() => ({ name: 'my cart' }), { name: 'my cart' }),
  },
  {
    breaks: 'name',
    how: 'a former name with a slash',
    says: '"old/cart" is no label value',
    factory: changed(() => ({}), { aliases: { 'old/cart': 'cart' } }),
  },
  {
    breaks: 'create',
    how: 'create() throws',
    says: 'create() threw "no horse": where it needs settings, give them with --config or settings.config',
    factory: changed(() => {
      throw new Error('no horse');
    }),
  },
  {
    breaks: 'contract-version',
    how: 'another version',
    says: 'it is 2',
    factory: changed(() => ({ contractVersion: 2 })),
  },
  {
    breaks: 'backend-name',
    how: 'another name once created',
    says: 'the factory is "cart", the backend "wagon"',
    factory: changed(() => ({ name: 'wagon' })),
  },
  {
    breaks: 'backend-name',
    how: 'no scheduler',
    says: 'schedulerName is ""',
    factory: changed(() => ({ schedulerName: '' })),
  },
  {
    breaks: 'config-keys',
    how: 'takes any key',
    says: 'create() took config.noBackendHasThisSetting: a misspelt setting would pass unnoticed; refuse what you do not know (readProfileConfig does)',
    factory: { name: 'cart', create: (settings) => soundBackend({ ...settings, config: {} }) },
  },
  {
    breaks: 'config-keys',
    how: 'refuses a key and does not say which',
    says: 'it threw "wrong config", which does not name the key',
    factory: {
      name: 'cart',
      create: (settings) => {
        if (Object.keys(settings.config).length > 0) throw new Error('wrong config');
        return soundBackend(settings);
      },
    },
  },
  {
    breaks: 'init',
    how: 'hangs',
    says: 'without a cluster: init() did not answer within 2 s',
    factory: changed(() => ({ init: () => new Promise(() => undefined) })),
  },
  {
    breaks: 'init',
    how: 'rejects with nothing',
    says: 'without a cluster: it rejects with "", which is no reason',
    factory: changed(() => ({ init: () => Promise.reject(new Error('')) })),
  },
  {
    breaks: 'init',
    how: 'has no version',
    says: 'without a cluster: it resolves without a version',
    factory: changed(() => ({ init: () => Promise.resolve({}) })),
  },
  ...[undefined, null, 'v1'].map((facts) => ({
    breaks: 'init',
    how: `gives ${String(facts)}, as plain JavaScript may`,
    says: "without a cluster: it resolves without a version: give { version: '…' }, what it will speak",
    factory: changed(() => ({ init: () => Promise.resolve(facts) })),
  })),
  {
    breaks: 'init',
    how: 'returns nothing at all, not even a promise',
    says: 'without a cluster: it resolves without a version',
    factory: changed(() => ({ init: () => undefined })),
  },
  {
    breaks: 'init',
    how: 'has a notice that is no text',
    says: 'without a cluster: notices are not a list of texts',
    factory: changed(() => ({ init: () => Promise.resolve({ version: 'v1', notices: [1] }) })),
  },
];
