import {
  V1ContainerStateRunning,
  V1ContainerStateTerminated,
  V1ContainerStatus,
  V1PodCondition,
  V1PodStatus,
} from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import {
  containerStatusLists,
  containerStatusMembers,
  podConditionMembers,
  podStatusMembers,
  timeMembers,
} from '../../../../src/api/json/status-members.ts';

interface ClientNodeClass {
  getAttributeTypeMap(): { baseName: string; type: string; format: string }[];
}

const namesOf = (clientNodeClass: ClientNodeClass): string[] =>
  clientNodeClass.getAttributeTypeMap().map(({ baseName }) => baseName);
const timesOf = (clientNodeClass: ClientNodeClass): string[] =>
  clientNodeClass
    .getAttributeTypeMap()
    .filter(({ type }) => type === 'Date')
    .map(({ baseName }) => baseName);

/** What client-node 2.0.1 and Kubernetes 1.36 do not both know. A newer client-node puts its new members here, by name. */
const differences = { onlyClientNode: [], onlyKubernetes: [] };

describe.each<[string, ClientNodeClass]>([
  ['V1ContainerStateRunning', V1ContainerStateRunning],
  ['V1ContainerStateTerminated', V1ContainerStateTerminated],
])('the members of %s', (_, clientNodeClass) => {
  it('are a time where client-node has a Date', () => {
    expect(timesOf(clientNodeClass)).toEqual(namesOf(clientNodeClass).filter((name) => timeMembers.has(name)));
  });
});

describe.each<[string, ClientNodeClass, ReadonlySet<string>]>([
  ['V1PodStatus', V1PodStatus, podStatusMembers],
  ['V1PodCondition', V1PodCondition, podConditionMembers],
  ['V1ContainerStatus', V1ContainerStatus, containerStatusMembers],
])('the members of %s', (_, clientNodeClass, members) => {
  const attributes = clientNodeClass.getAttributeTypeMap();
  const known = new Set(namesOf(clientNodeClass));

  it('are those of client-node', () => {
    const onlyClientNode = [...known].filter((name) => !members.has(name));
    const onlyKubernetes = [...members].filter((name) => !known.has(name));
    expect({ onlyClientNode, onlyKubernetes }).toEqual(differences);
  });

  it('are a time where client-node has a Date', () => {
    expect(timesOf(clientNodeClass)).toEqual(namesOf(clientNodeClass).filter((name) => timeMembers.has(name)));
  });

  it('are a list of container statuses where client-node has one', () => {
    const lists = attributes.filter(({ type }) => type === 'Array<V1ContainerStatus>').map(({ baseName }) => baseName);
    expect(lists).toEqual(namesOf(clientNodeClass).filter((name) => containerStatusLists.some((list) => list === name)));
  });
});
