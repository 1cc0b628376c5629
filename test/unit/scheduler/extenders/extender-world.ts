import type { IncomingMessage } from 'node:http';
import type { ExtenderOptions } from '../../../../src/scheduler/extenders/extender-options.ts';
import type { SchedulerOptions } from '../../../../src/scheduler.ts';
import { serveLocally } from '../../../support/serve-locally.ts';
import { schedulerWorld } from '../scheduler-world.ts';

/** What an extender was asked. */
export interface Asked {
  readonly verb: string;
  readonly pod: string;
  readonly nodes: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
}

/** What a verb is answered with: JSON, text, or nothing at all until the promise settles. */
export type Answers = Readonly<Record<string, (asked: Asked) => unknown>>;

/** All nodes of a question, by name. */
export const all = ({ nodes }: Asked): object => ({ NodeNames: nodes });

/** A real extender on this machine, which knows the nodes by name. It notes what it is asked. */
export async function extenderServer(answers: Answers) {
  const asked: Asked[] = [];
  const server = await serveLocally((request, response) => {
    void textOf(request).then(async (text) => {
      const one = askedOf((request.url ?? '').slice(1), JSON.parse(text) as Asked['body']);
      asked.push(one);
      const answer = await answers[one.verb]?.(one);
      if (answer === undefined) response.writeHead(404).end();
      else response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    });
  });
  const verbs = (): string[] => asked.map(({ verb, pod }) => `${verb} ${pod}`);
  return { ...server, asked, verbs, [Symbol.asyncDispose]: server[Symbol.asyncDispose] };
}

export type ExtenderServer = Awaited<ReturnType<typeof extenderServer>>;

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

function askedOf(verb: string, body: Asked['body']): Asked {
  const { Pod, PodName, NodeNames, Nodes } = body as {
    readonly Pod?: { readonly metadata: { readonly name: string } };
    readonly PodName?: string;
    readonly NodeNames?: readonly string[];
    readonly Nodes?: { readonly items: readonly { readonly metadata: { readonly name: string } }[] };
  };
  const nodes = NodeNames ?? Nodes?.items.map(({ metadata }) => metadata.name) ?? [];
  return { verb, pod: Pod?.metadata.name ?? PodName ?? '', nodes, body };
}

/** A scheduler in virtual time with one extender, which is asked what there are answers for. */
export async function extenderWorld(
  answers: Answers,
  extender: Partial<ExtenderOptions> = {},
  options: Partial<SchedulerOptions> = {},
  holds = false,
) {
  const server = await extenderServer(answers);
  const verbs = Object.fromEntries(Object.keys(answers).map((verb) => [`${verb}Verb`, verb]));
  const one = { urlPrefix: server.url, nodeCacheCapable: true, weight: 1, ...verbs, ...extender };
  const world = schedulerWorld({ extenders: [one], ...options }, holds);
  const dispose = async (): Promise<void> => {
    await world.scheduler.stop();
    await server[Symbol.asyncDispose]();
  };
  return { ...world, server, [Symbol.asyncDispose]: dispose };
}
