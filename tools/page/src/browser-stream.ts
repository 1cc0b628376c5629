import type { DebugPart, DebugPod } from '../../../src/observe/debug/debug-api.ts';
import type { DebugFleet, DebugFleetNode } from '../../../src/observe/debug/debug-fleet-api.ts';
import type { StreamListener } from './model/connection.ts';

/** The folder that the page is served from, with a slash at its end, whether or not the page's own address has one. */
const base = location.pathname.endsWith('/') ? location.pathname : `${location.pathname}/`;

export const snapshotAddress = `${base}api/snapshot`;

/** Opens the server's stream of events. Returns a function that closes it. */
export function openStream(listener: StreamListener): () => void {
  const stream = new EventSource(`${base}api/changes`);
  stream.addEventListener('snapshot', ({ data }) => listener.onSnapshot(JSON.parse(data)));
  stream.addEventListener('changes', ({ data }) => listener.onChanges(JSON.parse(data)));
  // The browser would try again by itself, without a word of when: that is for the connection to say.
  stream.addEventListener('error', () => {
    stream.close();
    listener.onEnd();
  });
  return () => stream.close();
}

export function podAddress(podUID: string): string {
  return `${base}api/pods/${encodeURIComponent(podUID)}`;
}

export function partAddress(kind: string): string {
  return `${base}api/${kind}`;
}

export async function readPod(podUID: string): Promise<DebugPod | undefined> {
  return read<DebugPod>(podAddress(podUID));
}

export async function readPart(kind: string): Promise<DebugPart | undefined> {
  return read<DebugPart>(partAddress(kind));
}

export async function readFleet(query: string): Promise<DebugFleet | undefined> {
  return read<DebugFleet>(`${partAddress('fleet')}?${query}`);
}

export function fleetNodeAddress(nodeName: string): string {
  return `${base}api/fleet/nodes/${encodeURIComponent(nodeName)}`;
}

export async function readFleetNode(nodeName: string): Promise<DebugFleetNode | undefined> {
  return read<DebugFleetNode>(fleetNodeAddress(nodeName));
}

async function read<T>(address: string): Promise<T | undefined> {
  const answer = await fetch(address, { headers: { accept: 'application/json' } });
  if (answer.status === 404) return undefined;
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return answer.json();
}
