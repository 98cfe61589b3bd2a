import { describe, expect, test } from '@jest/globals';
import { fault } from '../../../src/api/fault.ts';
import { rules, type RuleName } from '../../../src/api/rules.ts';
import { textsOf } from '../../support/reviews.ts';
import { hpcExamples } from './rule-examples-hpc.ts';
import { hpcPodExamples } from './rule-examples-hpc-pods.ts';
import { podExamples } from './rule-examples-pods.ts';
import { workloadExamples } from './rule-examples-workloads.ts';
import { podGangExamples } from './rule-examples-pod-gangs.ts';

const examples = [...podExamples, ...podGangExamples, ...hpcExamples, ...hpcPodExamples, ...workloadExamples];
const names = Object.keys(rules) as RuleName[];

/** What ends a line, moves a cursor or reorders text: nothing of it may reach a terminal. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/u;
const runes = (text: string): number => Array.from(text).length;

describe('every rule', () => {
  test.each(examples)('$rule: $mistake', ({ rule, decide, says }) => {
    const decision = decide();
    expect(textsOf(decision)).toEqual([says]);
    expect(decision.faults[0]?.rule).toBe(rule);
    expect(decision.changes).toEqual([]);
  });

  test('has an example', () => {
    const shown = new Set<string>(examples.map(({ rule }) => rule));
    expect(names.filter((name) => !shown.has(name))).toEqual([]);
  });
});

describe('the message of every rule', () => {
  const hostile: [string, unknown][] = [
    ['nothing', undefined],
    ['an emoji of two halves, many times', '😀'.repeat(400)],
    ['300 KiB', 'x'.repeat(300 * 1024)],
    ['control and bidi characters', '\u0000\u001b[2J\n\r\t\u007f\u0085\u2028\u2029\u202e\u2066\ufeff\u061c'],
    ['halves of surrogate pairs', `\ud800${'a\udc00'.repeat(100)}`],
    ['a list', [['deep']]],
    ['an object', { toString: 'no function' }],
    ['a number', -0.5],
    ['null', null],
  ];

  test.each(hostile)('stays short, printable and complete with %s as value and detail', (_what, value) => {
    for (const name of names) {
      const detail = typeof value === 'string' ? { detail: value } : {};
      const { message } = fault(name, 'spec.x', { value, ...detail });
      expect(runes(message)).toBeLessThanOrEqual(256);
      expect(message).not.toMatch(UNSAFE);
      expect(message).toMatch(new RegExp(`; .+ \\[${name}\\]$`));
      expect(message).toContain(rules[name].fix);
    }
  });

  test.each(names)('%s keeps its own words beside a value of 20 characters', (name) => {
    const { message } = fault(name, 'spec.x', { value: 'v'.repeat(20) });
    expect(message).not.toContain('…');
    expect(message).toContain(`"${'v'.repeat(20)}": ${rules[name].says}; ${rules[name].fix}`);
  });

  test.each(names)('%s says what is so, and what to do, without a full stop', (name) => {
    const { says, fix, code } = rules[name];
    for (const text of [says, fix]) {
      expect(text).toMatch(/[^.;:\s]$/);
      expect(text).not.toMatch(UNSAFE);
    }
    expect([403, 422]).toContain(code);
  });

  test('names the kind of mistake as Kubernetes does', () => {
    const kinds = names.map((name) => {
      const { reason, message } = fault(name, 'spec.x');
      return `${rules[name].kind} = ${reason} = ${message.split(':')[0] ?? ''}`;
    });
    expect([...new Set(kinds)].sort()).toEqual([
      'Duplicate = FieldValueDuplicate = Duplicate value',
      'Forbidden = FieldValueForbidden = Forbidden',
      'Invalid = FieldValueInvalid = Invalid value',
      'NotSupported = FieldValueNotSupported = Unsupported value',
      'Required = FieldValueRequired = Required value',
      'TooLong = FieldValueTooLong = Too long',
    ]);
  });
});
