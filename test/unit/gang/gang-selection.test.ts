import { expect, test } from '@jest/globals';
import { EVERY_GANG, notSelected, type GangSelectors } from '../../../src/gang/gang-selection.ts';

const label = (key: string, value: string) => ({ matchLabels: { [key]: value }, matchExpressions: [] });
const byNamespace: GangSelectors = { ...EVERY_GANG, namespaceSelector: label('team', 'ml') };
const byObject: GangSelectors = { ...EVERY_GANG, objectSelector: label('muster', 'yes') };
const of = (labels: Record<string, string>): Map<string, string> => new Map(Object.entries(labels));

const NAMESPACE = 'not selected by controllers.podGang.namespaceSelector: Namespace ml';
const OBJECT = 'not selected by controllers.podGang.objectSelector: the PodGang';

test.each<
  [
    string,
    GangSelectors,
    Map<string, string> | undefined,
    Map<string, string> | undefined,
    string | undefined,
  ]
>([
  ['by default every gang', EVERY_GANG, of({}), of({}), undefined],
  ['by default those of a Namespace that is not known', EVERY_GANG, undefined, of({}), undefined],
  ['the right Namespace', byNamespace, of({ team: 'ml' }), of({}), undefined],
  ['another', byNamespace, of({ team: 'web' }), of({}), `${NAMESPACE} needs label team=ml, has team=web`],
  ['one that is not known', byNamespace, undefined, of({}), `${NAMESPACE} is not known`],
  ['the right gang', byObject, of({}), of({ muster: 'yes' }), undefined],
  ['another gang', byObject, of({}), of({}), `${OBJECT} needs label muster=yes, has none`],
  ['Pods without a gang, by the Namespace alone', byObject, of({}), undefined, undefined],
  ['and not in another', byNamespace, of({}), undefined, `${NAMESPACE} needs label team=ml, has none`],
  [
    'the Namespace is named first',
    { ...byNamespace, objectSelector: byObject.objectSelector },
    of({}),
    of({}),
    `${NAMESPACE} needs label team=ml, has none`,
  ],
])('%s', (_, selectors, namespace, gang, why) => {
  expect(notSelected(selectors, 'ml', namespace, gang)).toBe(why);
});
