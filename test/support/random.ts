export { Random } from '../../src/conformance/sample-pods.ts';
