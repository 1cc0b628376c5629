// `node test/real/machine/record.ts`: writes down which cgroups the real kubelet v1.36.3 makes, with both drivers, into recorded/.
import { writeFile } from 'node:fs/promises';
import { buildForMachine, MachineNode } from './support/machine-node.ts';
import { readPodGroups } from './support/pod-groups.ts';
import { recordingFile, recordingText } from './support/recordings.ts';

await buildForMachine(['--kubelet']);
for (const driver of ['cgroupfs', 'systemd'] as const) {
  const node = await MachineNode.start(driver);
  try {
    await node.startAgent('kubelet');
    await writeFile(recordingFile(driver), recordingText(await readPodGroups(node)));
    console.log(`written: ${recordingFile(driver)}`);
  } finally {
    await node.stop();
  }
}
