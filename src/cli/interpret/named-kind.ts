import { suggestion } from '../../text/nearest-key.ts';
import { quoted } from '../../text/printable.ts';
import { MusterError } from '../../errors.ts';
import type { WorkloadKind } from '../../workloads/workload-kind.ts';

/** `Job.batch.volcano.sh`, as kubectl has it, or `PyTorchJob` where there is but one of the name. @throws MusterError USAGE */
export function namedKind(name: string, kinds: readonly WorkloadKind[]): WorkloadKind {
  const [found, ...others] = kinds.filter((one) => name === one.kind || name === fullName(one));
  const different = others.filter((one) => found === undefined || fullName(one) !== fullName(found));
  if (found !== undefined && different.length === 0) return found;
  if (found !== undefined) {
    const full = [found, ...different].map(fullName);
    throw new MusterError('USAGE', `--lua ${name} could be ${full.join(' or ')}`, 'write one of them');
  }
  const names = kinds.map(fullName);
  throw new MusterError(
    'USAGE',
    `--lua: there is no kind ${quoted(name)}${suggestion(name, names)} (there are: ${names.join(', ')})`,
    'name one of these, or tell of yours under fleet.kinds and give --config',
  );
}

const fullName = ({ kind, group }: WorkloadKind): string => (group === '' ? kind : `${kind}.${group}`);
