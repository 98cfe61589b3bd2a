import { isObject, own, ownList, ownString, type Json, type JsonObject } from '../json/json.ts';
import { printable, quoted } from '../text/printable.ts';
import { countOf, parseQuantity } from './quantity.ts';
import type { LabelSelector } from './label-selector.ts';

/** Labels of an object. */
export type Labels = ReadonlyMap<string, string>;
/** Amounts by resource: thousandths of `cpu`, whole units of all others. */
export type Resources = ReadonlyMap<string, number>;

/** An error of an object in a snapshot, because of which the object cannot be used. */
export interface ObjectFault {
  /** The object, as `Pod batch/worker-0`. */
  readonly object: string;
  /** The field, as `spec.containers[0].resources.requests.cpu`. */
  readonly field: string;
  /** What is wrong, the rule and the way out. */
  readonly message: string;
}

/** `Pod batch/worker-0`, for messages. */
export function objectTitle(object: JsonObject, kind = ownString(object, 'kind') ?? ''): string {
  const metadata = own(object, 'metadata');
  const name = ownString(metadata, 'name') ?? ownString(metadata, 'generateName') ?? '';
  const namespace = ownString(metadata, 'namespace');
  return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}

/** Collects what is wrong with the fields of one object. */
export class FieldFaults {
  readonly wrongs: Omit<ObjectFault, 'object'>[] = [];

  /** Adds a fault. @param field may end with a key that a user has written */
  wrong(field: string, message: string): void {
    this.wrongs.push({ field: printable(field), message });
  }
}

/** Reads the fields of one object, and collects what it cannot read. */
export class FieldReader extends FieldFaults {
  readonly #object: string;

  constructor(object: string) {
    super();
    this.#object = object;
  }

  get faults(): ObjectFault[] {
    return this.wrongs.map((one) => ({ object: this.#object, ...one }));
  }

  /** Reads `{cpu: 500m, memory: 1Gi}` as amounts. */
  resources(value: Json | undefined, field: string): Map<string, number> {
    const counts = new Map<string, number>();
    for (const [name, amount] of isObject(value) ? Object.entries(value) : []) {
      const billionths = this.quantity(amount, `${field}.${name}`);
      if (billionths === undefined) continue;
      const count = countOf(name, billionths);
      if (count === undefined)
        this.wrong(`${field}.${name}`, `${quoted(amount)} must be from 0 to ${countLimit(name)}; correct it`);
      else counts.set(name, count);
    }
    return counts;
  }

  /** Reads a quantity in billionths of its unit; undefined where the value is no quantity. */
  quantity(value: Json | undefined, field: string): bigint | undefined {
    const billionths = parseQuantity(value);
    if (billionths === undefined)
      this.wrong(field, `${quoted(value)} is no quantity; write it as 500m, 2 or 12Gi`);
    return billionths;
  }

  /** Reads an integer; `fallback` where the field is absent. */
  integer(value: Json | undefined, field: string, fallback: number): number {
    if (value === undefined || value === null) return fallback;
    if (typeof value === 'number' && Number.isInteger(value)) return value;
    this.wrong(field, `${quoted(value)} is no integer`);
    return fallback;
  }

  /** Reads a LabelSelector; undefined where the field is absent. */
  selector(value: Json | undefined, field: string): LabelSelector | undefined {
    if (!isObject(value)) return undefined;
    return {
      matchLabels: Object.fromEntries(labelsOf(own(value, 'matchLabels'))),
      matchExpressions: (ownList(value, 'matchExpressions') ?? []).map((one, index) => {
        const operator = ownString(one, 'operator');
        if (
          operator !== 'In' &&
          operator !== 'NotIn' &&
          operator !== 'Exists' &&
          operator !== 'DoesNotExist'
        ) {
          const found = quoted(operator ?? null);
          const at = `${field}.matchExpressions[${index}].operator`;
          this.wrong(at, `${found} must be In, NotIn, Exists or DoesNotExist`);
        }
        return {
          key: ownString(one, 'key') ?? '',
          operator:
            operator === 'NotIn' || operator === 'Exists' || operator === 'DoesNotExist' ? operator : 'In',
          values: stringsOf(own(one, 'values')),
        };
      }),
    };
  }
}

const countLimit = (resource: string): string =>
  resource === 'cpu' ? '9007199254740 cores' : '9007199254740991 (2^53 - 1)';

/** Reads a map of strings. Other values are left out, since the API server would have refused them. */
export const labelsOf = (value: Json | undefined): Labels =>
  new Map(
    (isObject(value) ? Object.entries(value) : []).flatMap(([key, text]) =>
      typeof text === 'string' ? [[key, text] as const] : [],
    ),
  );

export const stringsOf = (value: Json | undefined): string[] =>
  (Array.isArray(value) ? (value as readonly Json[]) : []).filter((one) => typeof one === 'string');
