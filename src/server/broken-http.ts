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

/** How long a client may take to close after its answer; Node would keep such a connection for ever. */
const LINGER_MS = 2000;

/**
 * Answers what is not even HTTP, and closes.
 * @param settings.keepAliveMs how long a connection may stay silent
 * @param settings.onAnswer told the code of every answer
 */
export function answerBrokenHttp(
  error: Error & { code?: string },
  socket: Socket,
  settings: { keepAliveMs: number; onAnswer: (code: number) => void },
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  // Node counts the time for headers from the handshake on. But an API server that dials while another connection
  // becomes free puts the new one into its pool unused, so it is idle, not slow, until a byte has come.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) {
    socket.setTimeout(settings.keepAliveMs);
    return;
  }
  const { code, text, message } = CODES[error.code ?? ''] ?? {
    code: 400,
    text: 'Bad Request',
    message: 'the request is not valid HTTP/1.1',
  };
  settings.onAnswer(code);
  const body = statusBody(code, message);
  socket.end(
    `HTTP/1.1 ${code} ${text}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}
