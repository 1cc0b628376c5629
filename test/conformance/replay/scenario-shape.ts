type Fields = Readonly<Record<string, unknown>>;

/** Every operation with the members it cannot do without; Go's JSON leaves out a list that is empty and a number that is 0. */
const operations: Readonly<Record<string, readonly string[]>> = {
  'podManager.add': ['pod'],
  'podManager.update': ['pod'],
  'podManager.remove': ['podUID'],
  'podManager.observe': ['namespace', 'name'],
  'apiserver.put': ['pod'],
  'apiserver.remove': ['namespace', 'name'],
  'apiserver.fail': ['namespace', 'name', 'verb', 'code'],
  'podDeletionSafety.couldHaveRunningContainers': ['podUID'],
  setPodStatus: ['podUID', 'status'],
  setContainerReadiness: ['podUID', 'containerID'],
  setContainerStartup: ['podUID', 'containerID'],
  terminatePod: ['podUID'],
  removeOrphanedStatuses: [],
  setPodResizePendingCondition: ['podUID'],
  setPodResizeInProgressCondition: ['podUID'],
  clearPodResizePendingCondition: ['podUID'],
  clearPodResizeInProgressCondition: ['podUID'],
  backfillPodResizeConditions: [],
  reconcilePodReadiness: ['podUID'],
  advance: [],
};

const expectations: Readonly<Record<string, 'list' | 'object' | 'anything'>> = {
  changed: 'anything',
  result: 'anything',
  calls: 'list',
  notifications: 'list',
  cache: 'object',
  server: 'object',
  resizeConditions: 'object',
};

const verbs: ReadonlySet<unknown> = new Set(['get', 'patch', 'delete']);

/** What keeps a value from being a scenario that can be played; undefined for nothing. */
export function scenarioProblem(value: unknown): string | undefined {
  if (!isFields(value) || !Array.isArray(value.steps)) return 'neither a scenario nor a table case';
  if (typeof value.name !== 'string') return 'a scenario without a name';
  if (typeof value.start !== 'string' || Number.isNaN(Date.parse(value.start))) return 'a scenario without a time to start at';
  for (const [index, step] of value.steps.entries()) {
    const problem = stepProblem(step);
    if (problem !== undefined) return `step ${index} ${problem}`;
  }
  return undefined;
}

function stepProblem(step: unknown): string | undefined {
  if (!isFields(step)) return 'is no object';
  const needed = typeof step.op === 'string' && Object.hasOwn(operations, step.op) ? operations[step.op] : undefined;
  if (needed === undefined) return `names an unknown op: ${JSON.stringify(step.op)}`;
  const missing = needed.find((member) => step[member] === undefined);
  if (missing !== undefined) return `(${step.op}) has no ${missing}`;
  if (step.verb !== undefined && !verbs.has(step.verb)) return `(${step.op}) names an unknown verb: ${JSON.stringify(step.verb)}`;
  return isFields(step.expect) ? expectationProblem(step.expect) : `(${step.op}) expects nothing`;
}

function expectationProblem(expect: Fields): string | undefined {
  for (const [member, value] of Object.entries(expect)) {
    if (!Object.hasOwn(expectations, member)) return `expects something unknown: ${member}`;
    if (expectations[member] === 'list' && !Array.isArray(value)) return `expects ${member} that are no list`;
    if (expectations[member] === 'object' && !isFields(value)) return `expects a ${member} that is no object`;
  }
  const calls = (expect.calls ?? []) as unknown[];
  return calls.every((call) => isFields(call) && verbs.has(call.verb)) ? undefined : 'expects a call with an unknown verb';
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
