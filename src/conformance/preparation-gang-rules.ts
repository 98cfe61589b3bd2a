import { own, ownObject, ownString, type JsonObject } from '../json/json.ts';
import { isDnsSubdomain } from '../k8s/name-syntax.ts';
import { objectName } from '../k8s/resource.ts';
import { rules } from '../api/rules.ts';
import { messageOf } from '../errors.ts';
import { broken, type ConformanceRule } from './check.ts';
import { reachedOutside } from './outside-world.ts';
import { hpcGang, type PreparationSubject } from './preparation-subject.ts';
import { oddGangs } from './sample-gangs.ts';

/** Kinds that Muster's account may create for a gang. */
const KINDS = ['v1 ConfigMap', 'v1 Secret', 'v1 Service'];

const titleOf = (object: JsonObject): string =>
  `${ownString(object, 'apiVersion') ?? ''} ${ownString(object, 'kind') ?? ''}`;

export const preparationGangRules: readonly ConformanceRule<PreparationSubject>[] = [
  {
    name: 'validate-says',
    rule: 'validate() answers for every gang, also one that got past admission, with rules that there are, and changes none',
    needs: ['name'],
    look: ({ preparation, policy }) => {
      for (const gang of [hpcGang('train'), ...oddGangs({})]) {
        const before = JSON.stringify(gang);
        let verdict;
        try {
          verdict = preparation.validate(gang, policy);
          preparation.judge?.(policy);
        } catch (thrown) {
          throw broken(`it threw "${messageOf(thrown)}": say what is wrong as a fault`);
        }
        const strange = verdict.faults.find(({ rule }) => !Object.hasOwn(rules, rule));
        if (strange !== undefined) throw broken(`${JSON.stringify(strange.rule)} is no rule of Muster’s`);
        if (JSON.stringify(gang) !== before) throw broken('it changed the gang');
      }
      return undefined;
    },
  },
  {
    name: 'takes-a-gang',
    rule: 'there is a gang that it takes',
    needs: ['validate-says'],
    look: ({ preparation, policy }) => {
      const [fault] = preparation.validate(hpcGang('train'), policy).faults;
      if (fault !== undefined) throw broken(`it refuses a plain one: ${fault.field}: ${fault.message}`);
      return undefined;
    },
  },
  {
    name: 'objects-pure',
    rule: 'objects() uses no clock, no chance, no timer and no I/O; a key pair comes from what it is given',
    needs: ['takes-a-gang'],
    look: (subject) => {
      const tried = reachedOutside(() => subject.objectsOf(hpcGang('train')));
      if (tried.length > 0) throw broken(`it called ${tried.join(', ')}`);
      return undefined;
    },
  },
  {
    name: 'objects-same',
    rule: 'the same gang and policy have the same objects, to the byte',
    needs: ['objects-pure'],
    look: (subject) => {
      const [one, other] = [0, 1].map(() => JSON.stringify(subject.objectsOf(hpcGang('train'))));
      if (one !== other) throw broken('the second time they were others');
      return undefined;
    },
  },
  {
    name: 'objects-owned',
    rule: 'objects are ConfigMaps, Secrets and Services of the gang’s namespace, with legal names; Muster writes who owns them',
    needs: ['objects-pure'],
    look: (subject) => {
      for (const object of subject.objectsOf(hpcGang('train'))) {
        const [title, name] = [titleOf(object), objectName(object)];
        if (!KINDS.includes(title))
          throw broken(`${JSON.stringify(title)} is none that Muster may make for a gang`);
        if (!isDnsSubdomain(name)) throw broken(`${JSON.stringify(name)} is no object’s name`);
        const metadata = ownObject(object, 'metadata');
        if (ownString(metadata, 'namespace') !== 'ml')
          throw broken(`${title} ${name} is of another namespace`);
        if (own(metadata, 'ownerReferences') !== undefined) throw broken(`${title} ${name} names an owner`);
      }
      return undefined;
    },
  },
  {
    name: 'objects-apart',
    rule: 'each gang has objects of its own, and each of them once',
    needs: ['objects-owned', 'objects-same'],
    look: (subject) => {
      const taken = new Map<string, string>();
      for (const gang of ['train', 'train-worker', 'other']) {
        for (const object of subject.objectsOf(hpcGang(gang))) {
          const key = `${titleOf(object)} ${objectName(object)}`;
          const by = taken.get(key);
          if (by !== undefined)
            throw broken(`${key} is made for ${by === gang ? `${gang} twice` : `${by} and ${gang}`}`);
          taken.set(key, gang);
        }
      }
      return undefined;
    },
  },
];
