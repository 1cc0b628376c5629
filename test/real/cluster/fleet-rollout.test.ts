import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { loadAllYaml } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json/types.ts';
import { SupervisedProcess } from '../../support/control-plane/supervised-process.ts';
import { isAccepted, judgeFleet, type Verdict } from '../../support/fleet/fleet-judge.ts';
import type { FleetRecord } from '../../support/fleet/fleet-record.ts';
import { FleetWorld } from '../../support/fleet/fleet-world.ts';
import { MemberMachine } from '../../support/fleet/member-machine.ts';
import type { MemberProcess } from '../../support/fleet/member-process.ts';
import { goTool } from '../../support/go-tools.ts';
import { pollUntil } from '../../support/poll-until.ts';

const nodeCount = 24;
const machineName = 'machine';
const namespace = 'kube-system';
const patience = { withinMs: 60_000 };
const run = promisify(execFile);

let world: FleetWorld;
let controllers: SupervisedProcess;
let machine: MemberMachine;
let kubeconfig: string;
let first: readonly MemberProcess[];
let record: FleetRecord;
let verdict: Verdict;
let fewestAvailable = Number.POSITIVE_INFINITY;
beforeAll(async () => {
  const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 };
  world = await FleetWorld.start({ fleet: 'rolled', nodes: nodeCount, shards: 12, ...times });
  kubeconfig = join(world.dir, 'admin.kubeconfig');
  await world.servers.controlPlane.writeKubeconfig(kubeconfig);
  controllers = await SupervisedProcess.start({
    command: await goTool('kube-controller-manager'),
    args: [
      ...[`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--bind-address=127.0.0.1', '--secure-port=0'],
      '--controllers=deployment-controller,replicaset-controller',
    ],
    logFile: join(world.dir, 'kube-controller-manager.log'),
  });
  machine = await MemberMachine.start(world, machineName);
});
afterAll(async () => {
  await machine[Symbol.asyncDispose]();
  await controllers.stop();
  await world[Symbol.asyncDispose]();
});

interface Deployment extends JsonObject {
  readonly spec: JsonObject & { readonly template: JsonObject & { readonly spec: JsonObject } };
}

/** The Deployment of deploy/fleet.yaml, of three members on the machine of the test: there is no scheduler. */
async function deployment(): Promise<Deployment> {
  const text = await readFile(new URL('../../../deploy/fleet.yaml', import.meta.url), 'utf8');
  const found = (loadAllYaml(text) as Deployment[]).find(({ kind }) => kind === 'Deployment');
  if (found === undefined) throw new Error('deploy/fleet.yaml has no Deployment');
  const { spec } = found;
  const podSpec = { ...spec.template.spec, nodeName: machineName };
  return { ...found, spec: { ...spec, replicas: 3, template: { ...spec.template, spec: podSpec } } };
}

async function availableMembers(): Promise<number> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/edge-fleet`;
  const { body } = await world.servers.admin.send('GET', path);
  return (body as { status?: { availableReplicas?: number } }).status?.availableReplicas ?? 0;
}

async function kubectl(...args: string[]): Promise<string> {
  const { stdout } = await run(await goTool('kubectl'), [`--kubeconfig=${kubeconfig}`, '-n', namespace, ...args]);
  return stdout;
}

/** Every node is run by one of the members that run. */
async function areServed(): Promise<void> {
  const served = (): string =>
    world.running
      .flatMap(({ serves }) => serves.toSorted())
      .toSorted()
      .join(' ');
  await pollUntil('every node is run by one member', () => served() === world.nodes.join(' '), { ...patience, seen: served });
}

async function isInStep(podCount: number): Promise<void> {
  let left: string[] = [];
  const inStep = async (): Promise<boolean> => {
    left = await world.outOfStep();
    return left.length === 0 && world.cloud.pods.length === podCount;
  };
  await pollUntil('every pod is as the cloud has it', inStep, { ...patience, seen: () => left });
}

// each test goes on where the one before has ended
describe('the Deployment of deploy/fleet.yaml under a real kube-controller-manager, whose pods are members in processes of their own', () => {
  it('brings three members, which run all nodes', async () => {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    expect((await world.servers.admin.send('POST', path, { body: await deployment() })).status).toBe(201);
    await pollUntil('three members are available', async () => (await availableMembers()) === 3, patience);
    await areServed();
    for (const nodeName of world.nodes) {
      for (const number of [1, 2]) expect(await world.createPod(`${nodeName}-${number}`, nodeName)).toBe(201);
    }
    await isInStep(2 * nodeCount);
    first = [...world.running];
    expect(first).toHaveLength(3);
    world.cloud.live(20);
  });

  it('is replaced, member by member, by kubectl rollout restart, while statuses change all the time', async () => {
    let isOver = false;
    const looks = (async () => {
      while (!isOver) {
        fewestAvailable = Math.min(fewestAvailable, await availableMembers());
        await delay(50);
      }
    })();
    expect(await kubectl('rollout', 'restart', 'deployment', 'edge-fleet')).toContain('restarted');
    await kubectl('rollout', 'status', 'deployment', 'edge-fleet', '--timeout=110s');
    isOver = true;
    await looks;
    await pollUntil('the old members have ended', () => first.every(({ isRunning }) => !isRunning), patience);
    expect(world.running).toHaveLength(3);
    await areServed();
    const ends = first.map(({ lines }) => lines.findLast(({ what }) => what === 'stopped'));
    expect(ends).toEqual(ends.map(() => expect.objectContaining({ result: expect.objectContaining({ leftToRunOut: 0 }) })));
  });

  it('never has fewer than three members that are available', () => {
    expect(fewestAvailable).toBe(3);
  });

  it('ends with every status on the server', async () => {
    world.cloud.freeze();
    await isInStep(2 * nodeCount);
    const departures = [...world.departures];
    expect(departures.map(({ how }) => how)).toEqual(['stopped', 'stopped', 'stopped']);
    await machine[Symbol.asyncDispose]();
    await Promise.all(world.running.map((member) => member.stop()));
    record = await world.record();
    const [versions, writes] = [record.versions.filter(isOfFleet), record.writes.filter(isOfFleet)];
    verdict = judgeFleet({ ...record, departures, versions, writes });
  });

  it('has lost no status, let none go back, created no pod twice and shown no node NotReady, by the audit log', () => {
    expect(verdict.findings).toEqual([]);
    expect(verdict.unattributed).toBe(0);
    expect(verdict.memberWrites).toBeGreaterThan(500);
  });

  it('has let an old member, and then a new one, write for each node, by the audit log', () => {
    const old = first.map(({ id }) => id);
    const young = world.members.map(({ id }) => id).filter((id) => !old.includes(id));
    for (const nodeName of world.nodes) {
      const writers = writersOf(nodeName);
      expect(old).toContain(writers.at(0));
      expect(young).toContain(writers.at(-1));
    }
  });
});

/** The members' own pods and their machine are no affair of the fleet's. */
function isOfFleet({ name, namespace: place }: { readonly name: string; readonly namespace: string }): boolean {
  const isOfMemberPod = place === namespace && name.startsWith('edge-fleet-');
  return !isOfMemberPod && name !== machineName && !name.startsWith(`${machineName}.`);
}

/** The ids of the members that renewed the node's Lease, a renewal each, in the order of etcd. */
function writersOf(nodeName: string): string[] {
  const own = record.writes.filter(
    (write) => write.namespace === 'kube-node-lease' && write.name === nodeName && isAccepted(write),
  );
  const ordered = own.toSorted((a, b) => (a.revision ?? 0) - (b.revision ?? 0));
  return ordered.map(({ userAgent }) => userAgent.replace(/^.* /, ''));
}
