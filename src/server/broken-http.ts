import type { Socket } from 'node:net';
import { statusBody } from './status.ts';

/** Answers of Node's HTTP parser, by its error codes. Everything else is a malformed request. */
const CODES: Readonly<Record<string, { code: number; text: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: {
    code: 431,
    text: 'Request Header Fields Too Large',
    message: 'the request headers are larger than 16 KiB',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 408, text: 'Request Timeout', message: 'the request came in too slowly' },
};

/** Answers what is not even HTTP, and closes. */
export function answerBrokenHttp(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { code, text, message } = CODES[error.code ?? ''] ?? {
    code: 400,
    text: 'Bad Request',
    message: 'the request is not valid HTTP/1.1',
  };
  const body = statusBody(code, message);
  socket.end(
    `HTTP/1.1 ${code} ${text}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
