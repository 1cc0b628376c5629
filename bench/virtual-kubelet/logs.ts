import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { AdminClient } from '../../test/support/admin-client.ts';
import { goTool } from '../../test/support/go-tools.ts';
import { median } from '../support/statistics.ts';

async function timed(count: number, call: (index: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const began = performance.now();
    await call(index);
    times.push(performance.now() - began);
  }
  return median(times);
}

/** How long a log takes, one after the other, in milliseconds. Both nodes have empty logs. The first call of each kind is not counted. */
export async function measureLogs(
  admin: AdminClient,
  kubeconfig: string,
  namespace: string,
): Promise<{ readonly log: number; readonly kubectl: number }> {
  const read = async (index: number): Promise<void> => {
    const { status, body } = await admin.send('GET', `/api/v1/namespaces/${namespace}/pods/burst-${index % 20}/log`);
    if (status !== 200) throw new Error(`the log was answered ${status}: ${JSON.stringify(body)}`);
  };
  const program = await goTool('kubectl');
  const kubectl = (index: number) =>
    promisify(execFile)(program, [`--kubeconfig=${kubeconfig}`, '-n', namespace, 'logs', `burst-${index % 20}`]);
  await read(0);
  const log = await timed(100, read);
  await kubectl(0);
  return { log, kubectl: await timed(20, kubectl) };
}
