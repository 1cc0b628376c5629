import { describe, expect, it } from 'vitest';
import type { WireNode, WirePod } from '../../../../src/api/json/types.ts';
import { helpForNowhere, kindOfNowhere } from '../../../../src/scheduler/reports/plugin-help.ts';
import { inTreePlugins } from '../../../../src/scheduler.ts';
import { bareHandle } from '../../../support/framework-context.ts';
import { node, pod, schedulerWorld } from '../scheduler-world.ts';
import { diagnosis, full, tainted } from './reports-world.ts';

const labelled = (name: string, labels: Readonly<Record<string, string>>): WireNode => ({
  ...node(name),
  metadata: { name, labels },
});
const onNode = (given: WirePod, nodeName: string, labels: Readonly<Record<string, string>> = {}): WirePod => ({
  ...given,
  metadata: { ...given.metadata, labels },
  spec: { ...given.spec, nodeName } as NonNullable<WirePod['spec']>,
});
const web = { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'zone' };
const hostPort = {
  containers: [{ name: 'app', image: 'app:1', ports: [{ containerPort: 80, hostPort: 80 }] }],
};
const sharedDisk = { volumes: [{ name: 'disk', gcePersistentDisk: { pdName: 'd' } }] };

describe('what would help a pod that fits nowhere', () => {
  it.each<[string, readonly WireNode[], readonly WirePod[], Parameters<typeof pod>[2], string]>([
    [
      'a node selector that no node has',
      [node('n1'), node('n2')],
      [],
      { nodeSelector: { disk: 'fast' } },
      "Label a node as the pod's node selector and affinity ask, or change these: they leave out 2 nodes.",
    ],
    [
      'another node in the affinity, which leaves the rest out before the filters',
      [node('n1'), node('n2')],
      [],
      {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['gone'] }] }],
            },
          },
        },
      },
      "Label a node as the pod's node selector and affinity ask, or change these: they leave out 2 nodes.",
    ],
    [
      'a host port that another pod has',
      [node('n1')],
      [onNode(pod('other', '1', hostPort), 'n1')],
      hostPort,
      'Add a node, or let the pod take another host port: on 1 node another pod has the port.',
    ],
    [
      'an affinity to pods that are not there',
      [labelled('n1', { zone: 'a' })],
      [],
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [web] } } },
      'Add a node, or loosen the affinity and anti-affinity to other pods (theirs counts, too): they leave out 1 node.',
    ],
    [
      'spread constraints over a label that no node has',
      [node('n1'), node('n2')],
      [],
      { topologySpreadConstraints: [{ maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', ...web }] },
      'Add a node where few of these pods are, label nodes with the topology key, or loosen the spread constraints: they leave out 2 nodes.',
    ],
    [
      'a disk that another pod uses',
      [node('n1')],
      [onNode(pod('other', '1', sharedDisk), 'n1')],
      sharedDisk,
      'Wait until the other pod lets the disk go: it is in use on 1 node.',
    ],
    [
      'a device claim',
      [node('n1')],
      [],
      { resourceClaims: [{ name: 'gpu', resourceClaimName: 'gone' }] },
      'Make the claim that the message names, or correct its name in the pod. A server without resource.k8s.io/v1 has no claims. Claims of devices of the pod: default/gone.',
    ],
  ])('is said of %s', async (_, nodes, others, spec, help) => {
    const { scheduler } = schedulerWorld();
    for (const one of nodes) scheduler.setNode(one);
    for (const one of others) scheduler.setPod(one);
    scheduler.setPod(pod('late', '1', spec));
    scheduler.start();
    await scheduler.flush();
    const { problem, text } = scheduler.explain('uid-late');
    expect(problem?.help).toBe(help);
    expect(text.split('\n').at(-1)).toBe(help);
    await scheduler.stop();
  });

  it('names three plugins, those with the most nodes first, and a plugin that it does not know by its name', async () => {
    const own = (code: 'Unschedulable', plugin: string) => ({ plugin, code, reasons: ['no'] }) as const;
    const found = diagnosis({
      n1: own('Unschedulable', 'Mine'),
      n2: own('Unschedulable', 'Mine'),
      n3: { plugin: 'NodeName', code: 'UnschedulableAndUnresolvable', reasons: ['no'] },
      n4: full,
      n5: tainted,
    });
    expect(
      helpForNowhere(found)
        ?.split('; ')
        .map((clause) => clause.split(':')[0]),
    ).toEqual([
      'Change the pod or a node so that the plugin Mine, which refuses 2 nodes, agrees',
      'add the node that the pod names, or name another one',
      "add a node, end other pods, lower the pod's requests or raise its priority",
    ]);
  });

  it.each([
    [
      "node(s) didn't find available persistent volumes to bind",
      'Add a PersistentVolume that fits the claim (class, size, access modes, place): there is none for 2 nodes.',
    ],
    [
      'node(s) did not have enough free storage',
      'See what room the storage driver reports (CSIStorageCapacity), or claim less: too little is free for 2 nodes.',
    ],
    [
      "node(s) didn't match PersistentVolume's node affinity",
      "Add a node where the pod's volume can be reached, or move the volume: it cannot be reached from 2 nodes.",
    ],
    [
      'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
      'Restore the volume that the claim is bound to, or make the claim anew: the volume is gone, say 2 nodes.',
    ],
    ['something else', "See the pod's claims: their volumes keep it from 2 nodes."],
  ])('says of volumes: %s', (reason, help) => {
    const rejection = { plugin: 'VolumeBinding', code: 'UnschedulableAndUnresolvable', reasons: [reason] } as const;
    expect(helpForNowhere(diagnosis({ n1: rejection, n2: rejection }))).toBe(help);
  });

  it.each([
    ['VolumeBinding', 'pod has unbound immediate PersistentVolumeClaims', /^See why the pod's claim has no volume yet/],
    [
      'VolumeBinding',
      'waiting for ephemeral volume controller to create the persistentvolumeclaim "web-tmp"',
      /^See whether kube-controller-manager runs/,
    ],
    ['VolumeBinding', 'PVC d/web-tmp was not created for pod d/web (pod is not owner)', /^Delete or rename the claim/],
    ['VolumeBinding', 'persistentvolumeclaim "data" is being deleted', /^Wait until the claim is gone/],
    ['VolumeBinding', 'persistentvolumeclaim "data" bound to non-existent persistentvolume "v"', /^Restore the volume/],
    ['VolumeRestrictions', 'persistentvolumeclaim "data" not found', /^Make what the message names/],
    ['VolumeZone', 'persistentvolume "v" not found', /^Make what the message names/],
    [
      'NodeVolumeLimits',
      'volume "data" needs a PersistentVolumeClaim, which this scheduler does not bind',
      /^Use a volume that needs no claim/,
    ],
    ['Mine', 'the team "data" not found', /^Change the pod so that the plugin Mine agrees/],
  ])('says of a pod that %s refuses as such: %s', (plugin, reason, help) => {
    const rest = { plugin, code: 'UnschedulableAndUnresolvable', reasons: [reason] } as const;
    const asSuch = { ...diagnosis({}), rest, isRejectedAsSuch: true };
    expect(helpForNowhere(asSuch)).toMatch(help);
    expect(kindOfNowhere(asSuch)).toBe(plugin === 'Mine' ? 'no-node-fits' : 'volume-claim');
  });

  it('says what lacks, where no node is large enough and where some are', () => {
    const lacking = (code: 'Unschedulable' | 'UnschedulableAndUnresolvable') =>
      ({ plugin: 'NodeResourcesFit', code, reasons: ['Insufficient memory', 'Insufficient example.com/gpu'] }) as const;
    expect(helpForNowhere(diagnosis({ n1: lacking('UnschedulableAndUnresolvable') }))).toBe(
      "Lower the pod's requests, or add a larger node: memory and example.com/gpu lack on 1 node, even without any other pod.",
    );
    const mixed = diagnosis({ n1: lacking('UnschedulableAndUnresolvable'), n2: lacking('Unschedulable') });
    expect(helpForNowhere(mixed)).toBe(
      "Add a node, end other pods, lower the pod's requests or raise its priority: memory and example.com/gpu lack on 2 nodes (1 node would be too small even without any other pod).",
    );
  });

  it('has words of its own for every plugin of the default profile that can reject a pod, and no names that no plugin has', async () => {
    const names = Object.keys(inTreePlugins());
    const rejecting: string[] = [];
    for (const [name, make] of Object.entries(inTreePlugins())) {
      if (make(undefined, bareHandle()).filter !== undefined) rejecting.push(name);
    }
    expect(rejecting.length).toBeGreaterThan(10);
    for (const name of rejecting) {
      const rejection = { plugin: name, code: 'Unschedulable', reasons: ['no'] } as const;
      expect(helpForNowhere(diagnosis({ n: rejection }))).not.toContain(`the plugin ${name}`);
    }
    expect(names).toContain('NodeResourcesFit');
  });
});
