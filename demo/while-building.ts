import { locateBinaries, type Binary } from '../test/cluster/control-plane/binaries.ts';

/**
 * Has the programs built where they are missing, which takes minutes the first time. Whoever waits for that is shown something
 * meanwhile; what the build has said by then comes after it.
 *
 * @throws ControlPlaneUnavailable
 */
export async function whileBuilding(
  need: readonly Binary[],
  log: (line: string) => void,
  show: () => Promise<void>,
): Promise<void> {
  const begun = Promise.withResolvers<'building'>();
  let kept: string[] | undefined = [];
  const say = (line: string): void => {
    begun.resolve('building');
    if (kept === undefined) log(line);
    else kept.push(line);
  };
  const building = locateBinaries({ need, build: true, log: say }).then(() => 'built' as const);
  // It may fail while something is shown: then that is told at the end.
  building.catch(() => undefined);
  if ((await Promise.race([begun.promise, building])) === 'building') await show();
  for (const line of kept) log(line);
  kept = undefined;
  await building;
}
