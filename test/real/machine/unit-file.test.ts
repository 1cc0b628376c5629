// examples/kubelet as its unit file starts it: restarts, crashes and stops of the agent, of containerd and of systemd, and of the machine.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { podOf, type ServedPod } from '../../support/answers.ts';
import { type CgroupDriver, MachineNode } from './support/machine-node.ts';

const image = 'registry.k8s.io/e2e-test-images/busybox:1.36.1-1';
const drivers: readonly CgroupDriver[] = ['cgroupfs', 'systemd'];
const kept = ['one', 'two'];

describe.each(drivers)('the unit file of the example, with the driver %s', (driver) => {
  let node: MachineNode;
  let before: readonly unknown[];

  beforeAll(async () => {
    node = await MachineNode.start(driver);
    await node.startUnitFile();
    for (const name of kept) await create(name);
    for (const name of kept) await running(name);
  });
  afterAll(() => node?.stop());
  beforeEach(async () => {
    before = await lives();
  });

  const read = async (name: string): Promise<ServedPod> => podOf(await node.admin.getPod('default', name));
  const systemctl = (...args: readonly string[]): Promise<string> => node.machine.read(['systemctl', ...args]);
  const show = (property: string): Promise<string> => systemctl('show', 'kubelet', '-P', property);
  const shell = (script: string): Promise<string> => node.machine.read(['sh', '-c', script]);
  const isGone = async (name: string): Promise<boolean> => (await node.admin.getPod('default', name)).status === 404;
  const running = (name: string): Promise<void> =>
    node.until(`${name} runs`, async () => (await read(name)).status.phase === 'Running');

  async function create(name: string): Promise<void> {
    const resources = { requests: { cpu: '100m', memory: '16Mi' }, limits: { cpu: '200m', memory: '64Mi' } };
    const containers = [
      {
        name: 'only',
        image,
        imagePullPolicy: 'IfNotPresent',
        command: ['sh', '-c', 'trap "exit 0" TERM; sleep 3600 & wait'],
        resources,
      },
    ];
    const spec = {
      nodeName: MachineNode.nodeName,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      containers,
    };
    podOf(await node.admin.createPod('default', { metadata: { name }, spec }));
  }

  /** Which container of each pod runs, since when, how often it began, and what its cgroup allows. */
  async function lives(): Promise<unknown[]> {
    const pods = await Promise.all(kept.map(read));
    return Promise.all(
      pods.map(async ({ metadata: { uid }, status }) => {
        const { containerID = '', restartCount, state } = status.containerStatuses?.[0] ?? {};
        const groups = `find /sys/fs/cgroup/kubepods* -type d -name '*${containerID.split('//')[1]}*'`;
        const limits = await shell(`cd $(${groups}) && cat cgroup.procs cpu.max memory.max ../cpu.max ../memory.max ../pids.max`);
        return { uid, containerID, restartCount, startedAt: state?.running, limits };
      }),
    );
  }

  /** The agent is another process, answers, and the same containers run: a pod that is made now does, too. */
  async function expectTakenOver(name: string): Promise<void> {
    await create(name);
    await running(name);
    expect(await lives()).toEqual(before);
    await node.admin.deletePod('default', name);
    await node.until(`${name} is gone`, () => isGone(name));
  }

  it('starts the agent with the settings that the unit names, in the unit’s own cgroup', async () => {
    const pid = await show('MainPID');
    expect([await show('KillMode'), await show('ControlGroup')]).toEqual(['process', '/system.slice/kubelet.service']);
    expect(await shell(`cat /proc/${pid}/cgroup /proc/${pid}/oom_score_adj`)).toBe('0::/system.slice/kubelet.service\n-999');
    // it makes no group below its own, so the unit delegates none
    expect(await shell('find /sys/fs/cgroup/system.slice/kubelet.service -mindepth 1 -type d')).toBe('');
  });

  it('a restart leaves the containers as they are', async () => {
    await systemctl('restart', 'kubelet');
    await expectTakenOver('after-restart');
  });

  it('after a crash systemd starts the agent again, and the containers stay as they are', async () => {
    const pid = await show('MainPID');
    await systemctl('kill', '--signal=KILL', '--kill-whom=main', 'kubelet');
    await node.until('systemd has started another', async () => !['0', pid].includes(await show('MainPID')));
    await expectTakenOver('after-crash');
  });

  it('a stop leaves the containers alone, and the next start does what was asked meanwhile', async () => {
    await create('stopped');
    await running('stopped');
    await systemctl('stop', 'kubelet');
    expect(await show('Result')).toBe('success');
    expect(await shell('cat /sys/fs/cgroup/system.slice/kubelet.service/cgroup.procs 2> /dev/null || true')).toBe('');
    expect(await lives()).toEqual(before);
    await node.admin.deletePod('default', 'stopped');
    await create('meanwhile');
    await systemctl('start', 'kubelet');
    await node.until('stopped is gone', () => isGone('stopped'));
    await running('meanwhile');
    await node.admin.deletePod('default', 'meanwhile');
    await expectTakenOver('after-stop');
  });

  it('a restart of containerd leaves the containers as they are, and the agent finds the next one', async () => {
    await systemctl('restart', 'containerd');
    await expectTakenOver('after-containerd');
  });

  it('a reload and a new start of systemd take no limit of a pod away', async () => {
    await systemctl('daemon-reload');
    await systemctl('daemon-reexec');
    // a unit that asks for controllers makes systemd look at those of all groups
    await node.machine.read(['systemd-run', '-q', '--wait', '-p', 'CPUWeight=50', '-p', 'MemoryMax=64M', 'true']);
    await expectTakenOver('after-reload');
  });

  it('a reboot ends the agent before containerd, and both come back with the same pods', async () => {
    const bootedBefore = await node.machine.read(['cat', '/proc/sys/kernel/random/boot_id']);
    await node.machine.reboot();
    await node.until('each pod runs again', async () =>
      (await Promise.all(kept.map(read))).every(({ status: { containerStatuses } }) => {
        const { restartCount, state, lastState } = containerStatuses?.[0] ?? {};
        return restartCount === 1 && state?.running !== undefined && lastState?.terminated !== undefined;
      }),
    );
    const uids = (all: readonly unknown[]): unknown[] => all.map((life) => (life as { uid: string }).uid);
    expect(uids(await lives())).toEqual(uids(before));
    const journal = await node.machine.read([
      'journalctl',
      `_BOOT_ID=${bootedBefore.replaceAll('-', '')}`,
      '-o',
      'cat',
      '--no-pager',
    ]);
    const ends = journal.split('\n').filter((line) => /^Stopp(ed|ing) (kubelet|containerd)\.service/.test(line));
    expect(ends.slice(-4).map((line) => line.split(/\.service/)[0])).toEqual([
      'Stopping kubelet',
      'Stopped kubelet',
      'Stopping containerd',
      'Stopped containerd',
    ]);
  });
});
