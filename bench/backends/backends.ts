import { measureModule, type ModuleTiming } from './module.ts';
import { measurePrepare, type PrepareTiming } from './prepare.ts';
import { onStage } from './stage.ts';
import { measureSync } from './sync.ts';
import type { StageReport } from '../measure/figures.ts';
import { backendReport } from './report.ts';

/** What of the backends is measured. */
export const BACKEND_PARTS = ['backend-prepare', 'backend-module', 'backend-sync'] as const;

export interface BackendTiming {
  readonly prepare: PrepareTiming;
  readonly module: ModuleTiming;
  /** Of each backend. */
  readonly gangs: number;
}

export async function measureBackends(
  parts: ReadonlySet<string>,
  { prepare, module, gangs }: BackendTiming,
  progress: (line: string) => void,
): Promise<StageReport> {
  return backendReport({
    ...(parts.has('backend-prepare') ? { prepare: measurePrepare(prepare) } : {}),
    ...(parts.has('backend-module') ? { module: await measureModule(module) } : {}),
    ...(parts.has('backend-sync')
      ? { sync: await onStage((stage, scratch) => measureSync(stage, scratch, gangs, progress)) }
      : {}),
  });
}
