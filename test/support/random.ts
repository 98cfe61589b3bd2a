export { Random } from '../../src/conformance/random.ts';
