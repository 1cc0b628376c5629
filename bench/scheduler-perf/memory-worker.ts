// One workload in memory, in a process of its own: memory-worker.ts FILE, which has the steps as JSON. It prints what it has measured.
import { readFile } from 'node:fs/promises';
import { runInMemory } from './in-memory.ts';
import type { Step } from './workload.ts';

const steps = JSON.parse(await readFile(process.argv[2] ?? '', 'utf8')) as readonly Step[];
console.log(JSON.stringify(await runInMemory(steps)));
