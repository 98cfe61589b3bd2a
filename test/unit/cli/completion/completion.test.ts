import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { verbs } from '../../../../src/cli/verbs.ts';
import { muster } from '../fake-io.ts';

describe('completion in bash', () => {
  const complete = async (line: string): Promise<string[]> => {
    const { out: script } = await muster(['completion', 'bash']);
    const words = line.split(' ');
    const asked = `${script}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_muster; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', asked], { encoding: 'utf8' }).trim().split('\n');
  };

  test.each([
    ['muster rev', ['review']],
    ['muster help cer', ['certs']],
    ['muster review --str', ['--strict']],
    ['muster review -o s', ['sarif']],
    ['muster validate --output gi', ['github']],
    ['muster status --cont', ['--context']],
    ['muster completion z', ['zsh']],
    ['muster explain GangNotN', ['GangNotNamed']],
    ['muster explain podgang.spec.podgroups.minR', ['podgang.spec.podgroups.minReplicas']],
    ['muster explain scheduler.profiles.na', ['scheduler.profiles.name']],
    ['muster review -f package.j', ['package.json']],
    ['muster serve --config LICEN', ['LICENSE']],
  ])('%s', async (line, expected) => expect(await complete(line)).toEqual(expected));

  test('every verb', async () => {
    expect(await complete('muster ')).toEqual(['help', ...verbs.map(({ name }) => name)]);
  });
});

test('zsh gets the same, and fish a line for each verb and flag', async () => {
  const zsh = (await muster(['completion', 'zsh'])).out;
  expect(zsh).toMatch(/^#compdef muster\n/);
  expect(zsh).toContain((await muster(['completion', 'bash'])).out);
  const fish = (await muster(['completion', 'fish'])).out;
  for (const { name } of verbs) expect(fish).toContain(`-n __fish_use_subcommand -a ${name} -d '`);
  expect(fish).toContain(
    "complete -c muster -n '__fish_seen_subcommand_from review' -s o -l output -x -a 'text json yaml patch github sarif' -d 'how to print it'\n",
  );
  expect(fish).toContain("-s f -l filename -r -F -d 'files and folders");
});

test.each([
  [[], "error[USAGE]: missing required argument 'shell'"],
  [
    ['tcsh'],
    "error[USAGE]: command-argument value 'tcsh' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish.",
  ],
])('%j is wrong usage', async (args, says) => {
  const { code, err } = await muster(['completion', ...args]);
  expect(code).toBe(2);
  expect(err.split('\n')[0]).toBe(says);
});
