// `npm run cluster:docs [-- FILE]`: docs/scale.md shows this run from now on. Its picture is drawn by npm right after.
import { join } from 'node:path';
import { aligned } from '../measure/figures.ts';
import { rewritePage, withPlaces } from '../measure/page.ts';
import { CLUSTER_RECORD, keepResults, readCluster, type ClusterResults } from './results.ts';
import { clusterRunLine, clusterTables } from './table.ts';

const PAGE = join(import.meta.dirname, '../../docs/scale.md');

/** @throws where the page lacks a place for something of the run */
export function withCluster(page: string, results: ClusterResults): string {
  const tables = Object.entries(clusterTables(results)).map(([name, rows]) => [name, aligned(rows)] as const);
  const all = [['run', [clusterRunLine(results)]] as const, ...tables];
  return withPlaces(
    page,
    PAGE,
    all.map(([name, lines]) => [`cluster ${name}`, lines]),
  );
}

if (import.meta.main) {
  const [file = 'bench/cluster/results.json'] = process.argv.slice(2);
  keepResults(CLUSTER_RECORD, readCluster(file));
  rewritePage(PAGE, (page) => withCluster(page, readCluster()));
}
