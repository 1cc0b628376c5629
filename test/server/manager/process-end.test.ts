import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { podJson } from '../pods-contract/pods-contract-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('process');
});
afterAll(() => server.stop());

const agent = fileURLToPath(new URL('storm-agent.ts', import.meta.url));
const podCount = 40;

describe('an agent that gets SIGTERM in the middle of a storm', () => {
  it('writes the last status of every pod, leaves nothing open, and ends by itself', async () => {
    const names = Array.from({ length: podCount }, (_, index) => `stormy-${index}`);
    const node = `node-of-${namespace}`;
    for (const name of names) await server.admin.createPod(namespace, podJson(name, { spec: { nodeName: node } }));

    const env = { ...process.env, AGENT_NODE: node, AGENT_KUBECONFIG: server.kubeConfig().exportConfig() };
    const child = spawn(process.execPath, [agent], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines: string[] = [];
    for await (const line of createInterface(child.stdout)) {
      lines.push(line);
      if (line === 'storming') child.kill('SIGTERM');
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    expect({ code: child.exitCode, signal: child.signalCode }).toEqual({ code: 0, signal: null });

    const { message, before, after } = JSON.parse(lines.at(-1) ?? '');
    expect(message).toMatch(/^round [1-9]/);
    expect(after).toEqual(before);
    for (const name of names) {
      const { body } = await server.admin.getPod(namespace, name);
      expect(body).toMatchObject({ status: { phase: 'Running', message } });
    }
  });
});
