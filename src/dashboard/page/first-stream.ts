/** The stream of gangs, opened by a script that imports nothing: the first rows come while the other scripts are loaded. */
let source = opened();

export interface StreamReader {
  readonly message: (data: string) => void;
  readonly error: (source: EventSource) => void;
}

let reader: StreamReader | undefined;
/** What came before there was a reader. */
const early: ((reader: StreamReader) => void)[] = [];

function tell(call: (reader: StreamReader) => void): void {
  if (reader === undefined) early.push(call);
  else call(reader);
}

function opened(): EventSource {
  const now = new EventSource('/api/v1/gangs?watch=true');
  now.onmessage = ({ data }: MessageEvent<string>) => {
    tell((one) => one.message(data));
  };
  now.onerror = () => {
    tell((one) => one.error(now));
  };
  return now;
}

/** Opens it anew where the browser has given up, as it does after an answer that is no stream. */
export function openStream(): void {
  if (source.readyState === EventSource.CLOSED) source = opened();
}

/** Tells all that has come, and then each message; there is one reader. */
export function readStream(given: StreamReader): void {
  reader = given;
  for (const call of early.splice(0)) call(given);
}
