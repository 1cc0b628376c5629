import type { TestProject } from 'vitest/node';
import { createConsumer } from '../../package/consumer.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder of a project with the packed package installed, for all files; each works in a folder of its own below it. */
    consumerFolder: string;
  }
}

/** Packs and installs the package once for all files. Returns what removes it. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const consumer = await createConsumer();
  project.provide('consumerFolder', consumer.folder);
  return () => consumer.remove();
}
