// A process of its own that writes one version after another, until it is killed.

import { systemClock } from '../../../../src/base/clock.ts';
import { AtomicWriter } from '../../../../src/node/files/atomic-writer.ts';

const [folder = '', names = ''] = process.argv.slice(2);
const writer = new AtomicWriter(folder, { mounter: { changeOwner: async () => {} }, clock: systemClock });
for (let version = 1; ; version += 1) {
  const data = Buffer.from(`${process.pid}-${version}`);
  await writer.write(new Map(names.split(',').map((name) => [name, { data, mode: 0o644 }])));
  process.stdout.write(`${version}\n`);
}
