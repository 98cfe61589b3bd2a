import { backend } from '../backends.ts';

// Never comes to its end.
for (let turn = 0; turn >= 0; turn = 0) Math.random();

export default backend('looping-scheduler');
