const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');

/** One HTTP/1.1 answer. */
export interface HttpAnswer {
  readonly status: number;
  /** Whether the server closes the connection after it. */
  readonly last: boolean;
  readonly body: Buffer;
}

/**
 * The least parser that reads the answers of the three servers: status, Content-Length or chunks, Connection. Node's
 * own client would cost as much as a server and measure itself. One request is under way at a time, so nothing
 * follows an answer.
 */
export class HttpAnswers {
  #pending: Buffer | undefined;

  /** @returns the answer, as soon as `chunk` completes one */
  push(chunk: Buffer): HttpAnswer | undefined {
    const bytes = this.#pending === undefined ? chunk : Buffer.concat([this.#pending, chunk]);
    const answer = parse(bytes);
    this.#pending = answer === undefined ? bytes : undefined;
    return answer;
  }
}

function parse(bytes: Buffer): HttpAnswer | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = bytes.toString('latin1', 0, headEnd).toLowerCase();
  const start = headEnd + HEAD_END.length;
  const body = head.includes('\r\ntransfer-encoding: chunked')
    ? unchunked(bytes, start)
    : counted(bytes, start, Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1]));
  if (body === undefined) return undefined;
  return { status: Number(head.slice(9, 12)), last: head.includes('\r\nconnection: close'), body };
}

function counted(bytes: Buffer, start: number, length: number): Buffer | undefined {
  if (Number.isNaN(length)) throw new Error('an answer has neither Content-Length nor chunks');
  return bytes.length < start + length ? undefined : bytes.subarray(start, start + length);
}

function unchunked(bytes: Buffer, start: number): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let position = start; ;) {
    const lineEnd = bytes.indexOf(LINE_END, position);
    if (lineEnd < 0) return undefined;
    const length = Number.parseInt(bytes.toString('latin1', position, lineEnd), 16);
    const from = lineEnd + LINE_END.length;
    const next = from + length + LINE_END.length;
    if (bytes.length < next) return undefined;
    if (length === 0) return Buffer.concat(parts);
    parts.push(bytes.subarray(from, from + length));
    position = next;
  }
}
