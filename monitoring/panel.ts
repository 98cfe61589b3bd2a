/** What a row of the dashboard is written in. In expressions `@` stands for the variables of the dashboard. */

export interface Query {
  readonly expr: string;
  /** How a line is called: words, or labels as `{{pod}}`. */
  readonly legend: string;
}

export interface PanelSource {
  readonly title: string;
  readonly description: string;
  /** One of Grafana's. */
  readonly unit: 'reqps' | 'ops' | 's' | 'percentunit' | 'short' | 'bytes';
  readonly queries: readonly Query[];
  /** One number in place of a graph, coloured from these values on. */
  readonly number?: readonly (readonly [color: 'green' | 'orange' | 'red', from: number | null])[];
  readonly stacked?: true;
  /** Where the page of `muster dashboard` has the gangs or backends behind the numbers. */
  readonly page?: `#/${string}`;
}

export interface Row {
  readonly title: string;
  readonly collapsed?: true;
  readonly panels: readonly PanelSource[];
}

/** The page's gangs that wait. */
export const WAITING = '#/gangs?state=Pending';

/** The page's gangs of the scheduler whose line was clicked. */
export const GANGS_OF_BACKEND = '#/gangs?search=${__field.labels.backend_name}';

export const query = (legend: string, expr: string): Query => ({ legend, expr });

/** Of a histogram: the median and what one in a hundred takes longer than. */
export const quantiles = (metric: string, by = ''): Query[] =>
  [0.5, 0.99].map((quantile) =>
    query(
      `${by === '' ? '' : `{{${by}}} `}p${quantile * 100}`,
      `histogram_quantile(${quantile}, sum by (${by === '' ? '' : `${by}, `}le) (rate(${metric}_bucket{@}[$__rate_interval])))`,
    ),
  );

export const rate = (by: string, counter: string, more = ''): Query =>
  query(`{{${by}}}`, `sum by (${by}) (rate(${counter}{@${more}}[$__rate_interval]))`);
