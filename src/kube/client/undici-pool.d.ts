/**
 * undici's pool by its file. The package's own entrance loads all of undici (fetch, WebSocket, caches, mocks), 7.5 MiB of
 * memory in each process that nobody uses; and it gives the same class.
 */
declare module 'undici/lib/dispatcher/pool.js' {
  import type { Pool } from 'undici';

  const pool: typeof Pool;
  export default pool;
}
