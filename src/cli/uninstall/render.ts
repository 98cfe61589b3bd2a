import { printable } from '../../text/printable.ts';
import { quotedForShell } from '../doctor/diagnosis.ts';
import type { UninstallStep } from './steps.ts';
import type { StepWork, Write } from './write.ts';

/** What a step does, in counts: `1 × Deployment`. */
export function writeCounts({ writes }: Pick<StepWork, 'writes'>): string {
  const counts = new Map<string, number>();
  for (const { target, patch } of writes) {
    const what = patch === undefined ? target.resource.kind : `${target.resource.kind} released`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([what, count]) => `${count} × ${what}`).join(', ') || 'nothing left to do';
}

/** @param settle seconds that API servers may take to notice a deletion */
export function script(
  found: readonly (StepWork & { readonly step: UninstallStep })[],
  kubectlFlags: string,
  settle: number,
): string {
  const kubectl = `kubectl ${kubectlFlags}`;
  const blocks = found
    .filter(({ writes }) => writes.length > 0)
    .map(({ step, writes }, index) =>
      [
        `# ${index + 1}. ${step.name}: ${step.why}`,
        ...commandsOf(writes, kubectl),
        ...(step.then === 'settle' ? [`sleep ${settle} # until every API server has noticed it`] : []),
        '',
      ].join('\n'),
    );
  return blocks.length === 0 ? '# nothing of Muster is installed here\n' : blocks.join('\n');
}

/** Deletions of one kind in one place are one command; each patch is one of its own. */
function commandsOf(writes: readonly Write[], kubectl: string): string[] {
  const commands = new Map<string, string>();
  writes.forEach(({ target: { resource, namespace, name }, patch, foreground }, index) => {
    const kind = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
    const place = namespace === undefined ? '' : `-n ${quotedForShell(namespace)} `;
    const shown = quotedForShell(printable(name, 253));
    if (patch !== undefined)
      commands.set(String(index), `${kubectl}${place}patch ${kind} ${shown} ${patch.flags}`);
    else {
      const cascade = foreground === true ? ' --cascade=foreground' : '';
      const head = `${kubectl}${place}delete --ignore-not-found${cascade} ${kind}`;
      commands.set(head, `${commands.get(head) ?? head} ${shown}`);
    }
  });
  return [...commands.values()];
}
