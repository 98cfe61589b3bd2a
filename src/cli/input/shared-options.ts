import { InvalidArgumentError, Option } from 'commander';
import { isDnsLabel } from '../../k8s/name-syntax.ts';

/** Options that several verbs have, declared once. @param what the files hold */
export const filenameOption = (what = 'YAML or JSON'): Option =>
  new Option(
    '-f, --filename <file...>',
    `files and folders with ${what}; - is standard input`,
  ).makeOptionMandatory();

export const outputOption = (formats: readonly string[] = ['text', 'json']): Option =>
  new Option('-o, --output <format>', 'how to print it').choices(formats).default('text');

/** @param of what may name no namespace */
export const namespaceOption = (of = 'objects'): Option =>
  new Option('-n, --namespace <name>', `namespace of ${of} that name none`)
    .default('default')
    .argParser((name: string) => {
      if (isDnsLabel(name)) return name;
      throw new InvalidArgumentError(
        'A namespace is called by lower-case letters, digits and "-", at most 63.',
      );
    });

export const strictOption = (): Option =>
  new Option('--strict', 'fail where gangs, Pods and labels do not go together, or a gang cannot start');

export const colorOption = (): Option =>
  new Option('--color <when>', 'colours in text output').choices(['always', 'never', 'auto']).default('auto');
