// Builds what the tests of this folder need, for a caller that gives it a limited time.
import { buildTools } from './support/build-tools.ts';

await buildTools();
