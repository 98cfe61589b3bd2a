import { isObject, type Json, type JsonObject } from '../json/json.ts';
import { fault, keyed, type Fault } from './fault.ts';

/** Reads the fields of an object of Muster's API, and collects a fault for each that is missing or of the wrong type. */
export class FaultReader {
  readonly faults: Fault[] = [];

  /** Null counts as absent, as everywhere in Kubernetes. */
  wrong(path: string, value: Json | undefined, wanted: string): void {
    this.faults.push(
      value === undefined || value === null
        ? fault('FieldRequired', path, { detail: wanted })
        : fault('FieldType', path, { value, detail: `${wanted} is needed` }),
    );
  }

  required(value: Json | undefined, path: string): string {
    if (typeof value === 'string') return value;
    this.wrong(path, value, 'a string');
    return '';
  }

  text(value: Json | undefined, path: string): string | undefined {
    if (value === undefined || value === null) return undefined;
    return this.required(value, path);
  }

  optional<T>(
    value: Json | undefined,
    path: string,
    parse: (item: JsonObject, path: string) => T,
  ): T | undefined {
    if (value === undefined || value === null) return undefined;
    if (isObject(value)) return parse(value, path);
    this.wrong(path, value, 'an object');
    return undefined;
  }

  list<T>(value: Json | undefined, path: string, parse: (item: JsonObject, path: string) => T): T[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) {
      this.wrong(path, value, 'a list');
      return [];
    }
    return (value as readonly Json[]).map((item, index) => {
      const at = `${path}[${index}]`;
      if (isObject(item)) return parse(item, at);
      this.wrong(at, item, 'an object');
      return parse({}, at);
    });
  }

  strings(value: Json | undefined, path: string): Map<string, string> {
    const map = new Map<string, string>();
    if (value === undefined || value === null) return map;
    if (!isObject(value)) {
      this.wrong(path, value, 'an object');
      return map;
    }
    for (const key of Object.keys(value)) {
      const item = value[key];
      if (typeof item === 'string') map.set(key, item);
      else this.wrong(keyed(path, key), item, 'a string');
    }
    return map;
  }
}
