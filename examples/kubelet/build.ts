// Makes one file of the example, for a machine without this repository.
// Run it: npm run build:kubelet [-- FILE]
import { bundleKubelet } from './bundle.ts';

console.log(bundleKubelet(process.argv[2]));
