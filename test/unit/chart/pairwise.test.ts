import { expect, test } from '@jest/globals';
import { CHOICES } from '../../support/chart-values.ts';
import { pairwise } from '../../support/pairwise.ts';

test('every two options of different values of the chart meet in some row', () => {
  const rows = pairwise(CHOICES);
  const entries = Object.entries(CHOICES);
  const missed = entries.flatMap(([one, options], index) =>
    entries
      .slice(index + 1)
      .flatMap(([other, others]) =>
        options.flatMap((option, i) =>
          others.flatMap((second, j) =>
            rows.some((row) => row[one] === option && row[other] === second)
              ? []
              : [`${one} ${i}, ${other} ${j}`],
          ),
        ),
      ),
  );
  expect(missed).toEqual([]);
  expect(rows.length).toBeLessThan(60);
});
