// Makes one file of the example, for a machine without this repository.
// Run it: node examples/kubelet/build.ts [FILE]
import { bundleKubelet } from './bundle.ts';

console.log(bundleKubelet(process.argv[2]));
