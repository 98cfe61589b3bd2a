import type { Random } from '../support/random.ts';
import { spoiltBytes, spoiltText } from './spoil.ts';

/** How bytes go over the wire. */
export interface Sending {
  /** Where they are cut into pieces. */
  readonly cuts: readonly number[];
  /** The sender waits for an answer with its side open, as if more were to come. */
  readonly hold: boolean;
}

type Headers = [string, string][];

/** A request that is wrong on the way: in its length, its chunks, its headers, its line, its end. */
export function wireBytes(path: string, text: Buffer, random: Random): { sending: Sending; bytes: Buffer } {
  const body = random.chance(30)
    ? Buffer.from(spoiltText(text.toString(), random, ['request', 'object']))
    : text;
  // Whoever waits for a body that does not come hears of it after 50 ms.
  const target = `${path}?timeout=${random.pick(['100ms', '300ms', '0.3s', '100ms&x=%ff'])}`;
  const bytes = request(target, body, random);
  const spoilt = random.chance(15) ? spoiltBytes(bytes, random) : bytes;
  const cuts = random.list(3, () => random.below(spoilt.length + 1)).sort((a, b) => a - b);
  return { sending: { cuts, hold: random.chance(8) && !random.chance(50) }, bytes: spoilt };
}

function request(target: string, body: Buffer, random: Random): Buffer {
  const headers: Headers = [
    ['Host', 'muster'],
    ['Content-Type', 'application/json'],
    ['Content-Length', String(body.length)],
  ];
  const set = (name: string, value: string | undefined): void => {
    const at = headers.findIndex(([other]) => other === name);
    if (value === undefined) headers.splice(at, at < 0 ? 0 : 1);
    else if (at < 0) headers.push([name, value]);
    else headers[at] = [name, value];
  };
  let line = `POST ${target} HTTP/1.1`;
  let sent = body;
  switch (random.below(20)) {
    case 0:
      set('Content-Length', String(body.length - 1 - random.below(20)));
      break;
    case 1:
      set('Content-Length', String(body.length + 1 + random.below(20)));
      break;
    case 2:
      set(
        'Content-Length',
        random.pick(['-1', '1e3', '0x10', '', '99999999999999999999', '8388609', '+5', '5, 5']),
      );
      break;
    case 3:
      headers.push(['Content-Length', random.pick([String(body.length), '0', '5'])]);
      break;
    case 4:
      set('Content-Length', undefined);
      break;
    case 5:
      headers.push(['Transfer-Encoding', 'chunked']);
      break;
    case 6:
    case 7:
      set('Content-Length', undefined);
      headers.push([
        'Transfer-Encoding',
        random.pick(['chunked', 'chunked', 'Chunked', 'gzip, chunked', 'identity', 'chunked, chunked']),
      ]);
      sent = chunked(body, random);
      break;
    case 8:
      headers.push([
        'Content-Encoding',
        random.pick(['gzip', 'br', 'identity', 'deflate', '', 'gzip, gzip']),
      ]);
      break;
    case 9:
      set(
        'Content-Type',
        random.pick([
          'text/plain',
          'application/yaml',
          'application/json; charset=utf-16',
          'application/jsonx',
          'application/json;',
          undefined as never,
          '',
        ]),
      );
      break;
    case 10:
      line = `${random.pick(['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'post', 'CONNECT', 'TRACE', 'PRI', 'X'])} ${target} HTTP/1.1`;
      break;
    case 11:
      line = `POST ${random.pick(['/', '/nowhere', '/livez', '//mutate-v1-pod', '/mutate-v1-pod/', '/MUTATE-V1-POD', '/mutate-v1-pod%00', 'http://a/mutate-v1-pod', '*', '/../mutate-v1-pod', '/mutate-v1-pod#x', '/mutate-v1-pod?timeout=-1s', '/\u00ff'])} HTTP/1.1`;
      break;
    case 12:
      line = `POST ${target} ${random.pick(['HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/1.2', 'http/1.1', '', 'HTTP/1.1 '])}`;
      break;
    case 13:
      headers.push([
        random.pick(['X', 'X Y', 'X\u0000', ' X', 'X:', 'É']),
        random.pick(['a', 'a\u0000b', 'a\rb', 'a\nb', '\u00ff', '']),
      ]);
      break;
    case 14:
      for (let left = random.below(3_000); left > 0; left -= 1) headers.push([`X-${left}`, 'y']);
      break;
    case 15:
      headers.push(['X-Long', 'y'.repeat(random.below(40_000))]);
      break;
    case 16:
      headers.push(['Expect', random.pick(['100-continue', '200-ok', ''])]);
      break;
    case 17:
      headers.push(
        ['Connection', random.pick(['close', 'keep-alive', 'upgrade', 'Content-Length', 'x, close'])],
        ['Upgrade', random.pick(['h2c', 'websocket', ''])],
      );
      break;
    case 18: {
      const one = put(line, headers, body);
      return Buffer.concat(Array.from({ length: 2 + random.below(3) }, () => one));
    }
    default:
      sent = body.subarray(0, random.below(body.length + 1));
      break;
  }
  return put(line, headers, sent, random.chance(4) ? '\n' : '\r\n');
}

const put = (line: string, headers: Headers, body: Buffer, end = '\r\n'): Buffer =>
  Buffer.concat([
    Buffer.from([line, ...headers.map(([name, value]) => `${name}: ${value}`), '', ''].join(end), 'latin1'),
    body,
  ]);

/** The body in chunks, one of which may lie. */
function chunked(body: Buffer, random: Random): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const piece = body.subarray(at, at + 1 + random.below(4_000));
    at += piece.length;
    const size = random.chance(10)
      ? random.pick(['0', '-1', 'g', '', 'ffffffffffffffffff', `${piece.length}`, '1;x=y', ' 5'])
      : piece.length.toString(16);
    parts.push(Buffer.from(`${size}\r\n`), piece, Buffer.from(random.chance(3) ? '\n' : '\r\n'));
  }
  const last = random.chance(90)
    ? '0\r\n\r\n'
    : random.pick(['0\r\n', '0\r\nX: y\r\n\r\n', '', '0\r\nContent-Length: 5\r\n\r\n']);
  return Buffer.concat([...parts, Buffer.from(last)]);
}
