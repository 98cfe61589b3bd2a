/** How the image is run, read from the last stage of the Dockerfile, so that both images are run alike. */

/** The part of an OCI image's configuration that a runtime reads. */
export interface RunConfig {
  readonly User: string;
  readonly ExposedPorts: Readonly<Record<string, object>>;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Labels: Readonly<Record<string, string>>;
}

/** The instructions of the last stage, each with its word. */
function lastStage(text: string): readonly (readonly [string, string])[] {
  const instructions = text
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .flatMap((line): [string, string][] => {
      const [, word, rest] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
      return word === undefined || rest === undefined ? [] : [[word, rest]];
    });
  return instructions.slice(instructions.findLastIndex(([word]) => word === 'FROM') + 1);
}

/**
 * @param values of the stage's ARGs
 * @throws where an ARG that is used has no value
 */
export function runConfig(text: string, values: Readonly<Record<string, string>>): RunConfig {
  const stage = lastStage(text);
  const all = (wanted: string): string[] => stage.filter(([word]) => word === wanted).map(([, rest]) => rest);
  const one = (word: string): string => {
    const [rest] = all(word);
    if (rest === undefined) throw new Error(`the Dockerfile's last stage has no ${word}`);
    return rest;
  };
  const substituted = (part: string): string =>
    part.replace(/\$\{?(\w+)\}?/g, (_, name: string) => {
      const value = values[name];
      if (value === undefined) throw new Error(`the Dockerfile's ARG ${name} has no value here`);
      return value;
    });
  const pairs = all('LABEL').flatMap((rest) =>
    [...rest.matchAll(/([\w.-]+)=(?:"([^"]*)"|(\S+))/g)].map(
      ([, key = '', quoted, bare = '']): [string, string] => [key, substituted(quoted ?? bare)],
    ),
  );
  return {
    User: one('USER'),
    ExposedPorts: Object.fromEntries(
      one('EXPOSE')
        .split(/\s+/)
        .map((port) => [`${port}/tcp`, {}]),
    ),
    Env: all('ENV'),
    Entrypoint: JSON.parse(one('ENTRYPOINT')) as string[],
    Cmd: JSON.parse(one('CMD')) as string[],
    WorkingDir: one('WORKDIR'),
    Labels: Object.fromEntries(pairs.filter(([, value]) => value !== '').sort()),
  };
}
