import { expect } from 'vitest';
import { isPodProblem, type PodProblem, type Problem } from '../../../src/base/problem.ts';
import {
  createDebugHandler,
  type DebugHandlerOptions,
  type DebugPart,
  type DebugPod,
  type DebugSnapshot,
} from '../../../src/debug.ts';
import { serveLocally } from '../../support/serve-locally.ts';
import type { StuckRow } from './stuck-row.ts';

/** The debug page of one test, as `curl` and programs get it. */
export class ShownPage implements AsyncDisposable {
  readonly #url: string;
  readonly #stack: AsyncDisposableStack;

  private constructor(url: string, stack: AsyncDisposableStack) {
    this.#url = url;
    this.#stack = stack;
  }

  static async serve(options: DebugHandlerOptions): Promise<ShownPage> {
    const stack = new AsyncDisposableStack();
    const handler = createDebugHandler({ logger: null, ...options });
    stack.defer(() => handler.close());
    const { url } = stack.use(await serveLocally(handler));
    return new ShownPage(url, stack);
  }

  /** `path` without a slash before it. */
  async text(path: string): Promise<string> {
    return (await fetch(`${this.#url}${path}`)).text();
  }

  async json<T>(path: string): Promise<T> {
    return (await fetch(`${this.#url}${path}`)).json() as Promise<T>;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** The page leads with it: the table of all pods, what is opened of the pod or of the part, and the same as JSON. */
export async function requireShown(
  page: ShownPage,
  row: Omit<StuckRow, 'retried'>,
  problem: Problem | PodProblem | undefined,
): Promise<void> {
  const ofPod = problem !== undefined && isPodProblem(problem) ? problem.podUID : undefined;
  const part = row.about === 'scheduler' ? 'scheduler' : 'node';
  const table = await page.text('');
  expect(table, row.id).toMatch(ofPod === undefined ? /^trouble +/ : /^trouble +! [1-9]/);
  expect(table, row.id).toContain(row.words);
  const opened = (await page.text(ofPod === undefined ? part : `pods/${ofPod}`)).split('\n');
  const trouble = opened.filter((line) => line.startsWith('trouble '));
  expect(trouble[0], row.id).toMatch(/^trouble +! /);
  expect(opened[1], row.id).toBe(trouble[0]);
  expect(trouble.join('\n'), row.id).toContain(row.words);
  if (row.help !== undefined) expect(trouble.join('\n'), row.id).toContain(problem?.help);
  const same = expect.objectContaining({ kind: row.kind, message: expect.stringContaining(row.words) });
  const { pods, summary } = await page.json<DebugSnapshot>('api/snapshot');
  expect(summary.notes, row.id).toContainEqual(same);
  if (ofPod === undefined) {
    expect((await page.json<DebugPart>(`api/${part}`)).problems, row.id).toContainEqual(same);
    expect(summary.ownProblems[part], row.id).toBeGreaterThan(0);
  } else {
    expect(pods.find(({ podUID }) => podUID === ofPod)?.problem, row.id).toEqual(same);
    expect((await page.json<DebugPod>(`api/pods/${ofPod}`)).row.problem, row.id).toEqual(same);
    expect(summary.inTrouble, row.id).toBeGreaterThan(0);
  }
}
