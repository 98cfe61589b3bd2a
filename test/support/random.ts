export { Random } from '../../src/backends/conformance/random.ts';
