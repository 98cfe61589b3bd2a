import { backend } from '../backends.ts';
import { forEver } from './for-ever.ts';

// Never comes to its end.
if (Date.now() > 0) forEver();

export default backend('looping-scheduler');
