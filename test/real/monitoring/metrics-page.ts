// Makes docs/metrics.md out of metricDefinitions: npm run docs:metrics.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type MetricDefinition, metricDefinitions } from '../../../src/index.ts';
import { introduction } from './metrics-introduction.ts';

export const pageFile = fileURLToPath(new URL('../../../docs/metrics.md', import.meta.url));

const definitions = Object.values(metricDefinitions);

function labelsOf({ labels }: MetricDefinition): string {
  const each = Object.entries(labels).map(([name, { help, values }]) => {
    const known = values?.map((value) => (value === '' ? 'empty' : `\`${value}\``)).join(', ');
    return known === undefined ? `\`${name}\`: ${help}` : `\`${name}\`: ${known} (${help})`;
  });
  return each.length === 0 ? '–' : each.join('<br>');
}

function row(definition: MetricDefinition): string {
  const { name, type, unit, help, origin, endsWithPod, endsWithResource } = definition;
  const notes = [
    ...(origin === 'kubelet' ? ['As in the kubelet.'] : []),
    ...(origin === 'kube-scheduler' ? ['As in kube-scheduler.'] : []),
    ...(endsWithResource === true ? ['Its series end when the resource is gone.'] : []),
    ...(endsWithPod === true ? ['Its series end with the pod.'] : []),
  ];
  const kind = unit === '1' ? type : `${type}, ${unit === 's' ? 'seconds' : plural(unit.slice(1, -1))}`;
  return `| \`${name}\` | ${kind} | ${[help, ...notes].join(' ')} | ${labelsOf(definition)} |`;
}

function plural(noun: string): string {
  return noun.endsWith('ch') ? `${noun}es` : `${noun}s`;
}

function sectionOf(part: string): string {
  const ofPart = definitions.filter((definition) => definition.part === part);
  const title = part === 'the sink' ? 'The process' : part;
  return [
    `### ${title}`,
    '',
    '| metric | type, unit | what it measures | labels |',
    '|---|---|---|---|',
    ...ofPart.map(row),
  ].join('\n');
}

function buckets(): string {
  const rows = definitions.flatMap(({ name, buckets: bounds }) =>
    bounds === undefined ? [] : [`| \`${name}\` | ${bounds.join(', ')} |`],
  );
  return [
    '## Buckets',
    '',
    'The upper bounds of each histogram, in seconds.',
    '',
    '| metric | buckets |',
    '|---|---|',
    ...rows,
  ].join('\n');
}

export function pageText(): string {
  const parts = [...new Set(definitions.map(({ part }) => part))];
  return `${[introduction, '## The metrics, part by part', ...parts.map(sectionOf), buckets()].join('\n\n')}\n`;
}

if (import.meta.main) await writeFile(pageFile, pageText());
