/**
 * Ends everything side by side, so that nothing waits for what has nothing to do with it: the loop's Lease is given up
 * while reviews are still drained. One that fails keeps no other from its end, and each failure is told.
 * @throws the first failure, once everything has ended or failed
 */
export async function endTogether(
  ends: readonly (() => Promise<void> | undefined)[],
  failed: (error: unknown) => void,
): Promise<void> {
  const ended = await Promise.allSettled(ends.map(async (end) => end()));
  const failures = ended.flatMap((end) =>
    end.status === 'rejected' ? [{ error: end.reason as unknown }] : [],
  );
  for (const { error } of failures) failed(error);
  const [first] = failures;
  if (first !== undefined) throw first.error;
}
