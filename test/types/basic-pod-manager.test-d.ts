import type { V1Pod } from '@kubernetes/client-node';
import { describe, expectTypeOf, it } from 'vitest';
import {
  BasicPodManager,
  type Pod,
  type PodAndMirrorPod,
  type PodManager,
  type PodSink,
  type PodsAndMirrorPods,
  type WirePod,
} from '../../src/index.ts';
import type { ProviderNodeOptions } from '../../src/node.ts';

/** A pod with something of an agent's own. */
type AgentPod = WirePod & { readonly cgroup: string };

describe('BasicPodManager<P>', () => {
  it('gives back what it was given, by every method', () => {
    const manager = new BasicPodManager<AgentPod>();
    expectTypeOf(manager.getPods()).toEqualTypeOf<AgentPod[]>();
    expectTypeOf(manager.getPodByUID).returns.toEqualTypeOf<AgentPod | undefined>();
    expectTypeOf(manager.getPodByName).returns.toEqualTypeOf<AgentPod | undefined>();
    expectTypeOf(manager.getPodByFullName).returns.toEqualTypeOf<AgentPod | undefined>();
    expectTypeOf(manager.getPodByMirrorPod).returns.toEqualTypeOf<AgentPod | undefined>();
    expectTypeOf(manager.getMirrorPodByPod).returns.toEqualTypeOf<AgentPod | undefined>();
    expectTypeOf(manager.getPodsAndMirrorPods()).toEqualTypeOf<PodsAndMirrorPods<AgentPod>>();
    expectTypeOf(manager.getPodsAndMirrorPods().allMirrorPods).toEqualTypeOf<AgentPod[]>();
    expectTypeOf(manager.getPodAndMirrorPod).returns.toEqualTypeOf<PodAndMirrorPod<AgentPod>>();
    expectTypeOf<PodAndMirrorPod<AgentPod>['mirrorPod']>().toEqualTypeOf<AgentPod | undefined>();
    expectTypeOf(manager.getStaticPodToMirrorPodMap()).toEqualTypeOf<Map<AgentPod, AgentPod | undefined>>();
  });

  it('takes nothing else', () => {
    const manager = new BasicPodManager<AgentPod>();
    const pod: WirePod = {};
    // @ts-expect-error it has no cgroup
    manager.addPod(pod);
    // @ts-expect-error it has no cgroup
    manager.updatePod(pod);
    // @ts-expect-error it has no cgroup
    manager.replacePod(pod);
    // @ts-expect-error they have no cgroup
    manager.setPods([pod]);
    // @ts-expect-error it has no cgroup
    manager.getPodAndMirrorPod(pod);
    // who only asks for a pod, or removes one, needs no more than its identity
    expectTypeOf(manager.getMirrorPodByPod).parameter(0).toEqualTypeOf<Pod>();
    expectTypeOf(manager.getPodByMirrorPod).parameter(0).toEqualTypeOf<Pod>();
    expectTypeOf(manager.removePod).parameter(0).toEqualTypeOf<Pod>();
  });

  it('is of pods in any form where nothing is said, and of no other type than pods', () => {
    expectTypeOf(new BasicPodManager()).toEqualTypeOf<BasicPodManager<Pod>>();
    expectTypeOf(new BasicPodManager({})).toEqualTypeOf<BasicPodManager<Pod>>();
    // @ts-expect-error a number is no pod
    expectTypeOf<BasicPodManager<number>>().not.toBeAny();
  });

  it('has the dates of client-node where its pods have them, and texts where they have those', () => {
    type Created<P extends Pod> = NonNullable<ReturnType<BasicPodManager<P>['getPods']>[number]['metadata']>['creationTimestamp'];
    expectTypeOf<Created<V1Pod>>().toEqualTypeOf<Date | undefined>();
    expectTypeOf<Created<WirePod>>().toEqualTypeOf<string | undefined>();
  });

  it('is a pod manager for the status manager, whatever its pods', () => {
    expectTypeOf<BasicPodManager<V1Pod>>().toExtend<PodManager>();
    expectTypeOf<BasicPodManager<AgentPod>>().toExtend<PodManager>();
  });

  it("takes an apiserver's pods only where it may hold them", () => {
    expectTypeOf<BasicPodManager>().toExtend<PodSink>();
    expectTypeOf<BasicPodManager<WirePod>>().toExtend<PodSink>();
    expectTypeOf<BasicPodManager<V1Pod>>().not.toExtend<PodSink>();
    expectTypeOf<BasicPodManager<AgentPod>>().not.toExtend<PodSink>();
  });

  it('is not taken for one of a wider or a narrower type: that would put other pods in, or promise too much', () => {
    expectTypeOf<BasicPodManager<AgentPod>>().not.toExtend<BasicPodManager<WirePod>>();
    expectTypeOf<BasicPodManager<WirePod>>().not.toExtend<BasicPodManager<AgentPod>>();
    expectTypeOf<BasicPodManager<V1Pod>>().not.toExtend<NonNullable<ProviderNodeOptions['podManager']>>();
  });
});
