import type { AssignReplicaPlugin } from '../../../src/index.ts';

/** Writes a line, and ends its process when it is asked. */
const plugin: AssignReplicaPlugin = {
  name: 'faulty',
  strategies: () => ['ending'],
  assignReplica: () => {
    console.log('asked, and gone');
    process.exit(7);
  },
};

export default plugin;
