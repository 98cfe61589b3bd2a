import { kubeTime } from '../../k8s/time.ts';
import type { CliIo } from '../output/io.ts';
import type { Palette } from '../output/palette.ts';
import { gangChange, podChanges, type Changed } from './changes.ts';
import type { Show } from './follow.ts';
import { painted } from './styled-line.ts';
import { bodyLines, placeOf, UNBOUNDED, type Moment } from './view.ts';

/** For a pipe or a file: what there is, once, and then a line for everything that happens. */
export function appendText(io: Pick<CliIo, 'stdout' | 'stderr'>, palette: Palette): Show {
  return appending(io, {
    first: (moment) => {
      if (moment.gangs.length === 0) io.stderr(`no gangs ${placeOf(moment.question)}\n`);
      else
        io.stdout(
          bodyLines(moment, UNBOUNDED)
            .map((line) => `${painted(line, palette)}\n`)
            .join(''),
        );
    },
    change: (changed, { question }, time) => {
      const { namespace, name } = changed;
      const gang = gangChange(changed);
      // Of a single gang people want to see its Pods.
      const pods = question.gang === undefined ? [] : podChanges(changed);
      return [...(gang === '' ? [] : [gang]), ...pods].map(
        (told) => `${time}  ${namespace}/${name}  ${told}\n`,
      );
    },
  });
}

/** One JSON object a line (NDJSON): every gang once, then each that changes, with the words of a Kubernetes watch. */
export function appendJson(io: Pick<CliIo, 'stdout' | 'stderr'>): Show {
  const change = (changed: Changed, _moment: Moment, time: string): string[] => {
    const type = changed.new === undefined ? 'DELETED' : changed.old === undefined ? 'ADDED' : 'MODIFIED';
    return [`${JSON.stringify({ type, time, gang: changed.new ?? changed.old })}\n`];
  };
  return appending(io, { change });
}

interface Words {
  /** Instead of `change` for everything that is there at first. */
  readonly first?: (moment: Moment) => void;
  readonly change: (changed: Changed, moment: Moment, time: string) => readonly string[];
}

function appending(io: Pick<CliIo, 'stdout' | 'stderr'>, words: Words): Show {
  let begun = false;
  let troubled = false;
  return {
    show: (moment, changed) => {
      const time = kubeTime(moment.now);
      const { trouble } = moment;
      if (!begun && words.first !== undefined) words.first(moment);
      else io.stdout(changed.flatMap((one) => words.change(one, moment, time)).join(''));
      begun = true;
      if (trouble !== undefined && !troubled) io.stderr(`${time}  ${trouble.message}; trying again\n`);
      if (trouble === undefined && troubled) io.stderr(`${time}  watching again\n`);
      troubled = trouble !== undefined;
    },
    close: () => undefined,
  };
}
