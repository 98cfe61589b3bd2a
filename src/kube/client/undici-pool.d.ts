/**
 * The type of undici's Pool when imported by its file. Importing the package loads all of undici (fetch, WebSocket,
 * caches, mocks), which costs 7.5 MiB of memory in each process for parts that Muster does not use; the class is the
 * same.
 */
declare module 'undici/lib/dispatcher/pool.js' {
  import type { Pool } from 'undici';

  const pool: typeof Pool;
  export default pool;
}
