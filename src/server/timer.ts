/** A wait that can be ended early. */
export function startTimer(ms: number): { readonly done: Promise<void>; cancel(): void } {
  let cancel = (): void => undefined;
  const done = new Promise<void>((resolve) => {
    const handle = setTimeout(resolve, ms);
    cancel = () => {
      clearTimeout(handle);
      resolve();
    };
  });
  return { done, cancel };
}
