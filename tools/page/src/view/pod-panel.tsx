import type { VNode } from 'preact';
import type { DebugPod } from '../../../../src/observe/debug/debug-api.ts';
import { underWayText } from '../../../../src/observe/debug/debug-notes.ts';
import { podAddress } from '../browser-stream.ts';
import type { Model } from '../model/model.ts';
import type { OpenPanelState } from '../model/open-panel.ts';
import { manyLines } from '../text/json-text.ts';
import { meaningOf } from '../text/sync-words.ts';
import { type Fact, Facts, factsOfLines, When } from './facts.tsx';
import { Panel } from './panel.tsx';
import { versionOf } from './pod-row.tsx';
import { lookOf, SyncPill } from './sync-pill.tsx';
import { Timeline } from './timeline.tsx';
import { Trouble } from './trouble.tsx';

export interface PodPanelProps {
  readonly model: Model;
  readonly state: OpenPanelState<DebugPod>;
}

/** One pod: what is wrong, why its status stands where it stands, and what has happened. */
export function PodPanel({ model, state }: PodPanelProps): VNode {
  const { key: podUID, shown: pod, failure } = state;
  const row = model.rows.get(podUID) ?? pod?.row;
  return (
    <Panel
      model={model}
      above={row?.namespace ?? 'pod'}
      title={row?.name ?? podUID}
      address={podAddress(podUID)}
      failure={failure}
      waitsFor={pod === undefined ? 'pod' : undefined}
    >
      {pod === undefined ? null : <PodRead model={model} pod={pod} />}
    </Panel>
  );
}

function PodRead({ model, pod }: { readonly model: Model; readonly pod: DebugPod }): VNode {
  const { row, otherProblems, reason, differs, scheduler, node, timeline, droppedEntries, status } = pod;
  const { problem } = row;
  const now = model.now();
  return (
    <>
      {(problem === undefined ? [] : [problem, ...otherProblems]).map((one) => (
        <Trouble key={`${one.kind} ${one.message}`} model={model} problem={one} />
      ))}
      {row.underWay && <p class="notice tone-idle">{underWayText(row.underWay, now)}</p>}
      {/* the reason of a failed request repeats what the problem says */}
      <p class={`notice status-reason tone-${lookOf(row)}`}>
        <SyncPill row={row} /> <span>{problem && row.attempt > 0 ? meaningOf(row.sync) : reason}</span>
      </p>
      {scheduler === undefined ? null : <p class="scheduler-text">{scheduler}</p>}
      <Facts facts={factsOf(pod, now)} />
      {differs.length === 0 ? null : <Differs paths={differs} />}
      <h3>Timeline</h3>
      <Timeline entries={timeline} droppedEntries={droppedEntries} />
      <details class="more">
        <summary>
          <h3>Everything else</h3>
        </summary>
        <Facts facts={[['UID', row.podUID], ...factsOfLines(node, now)]} />
      </details>
      {status === undefined ? null : (
        <details class="status">
          <summary>
            <h3>Newest status</h3>
          </summary>
          <pre>{manyLines(status)}</pre>
        </details>
      )}
    </>
  );
}

function Differs({ paths }: { readonly paths: readonly string[] }): VNode {
  return (
    <details class="more">
      <summary>Differs on the apiserver: {paths.length === 1 ? 'one place' : `${paths.length} places`}</summary>
      <ul>
        {paths.map((path) => (
          <li key={path}>
            <code>{path}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}

function factsOf({ row, retryAt = row.problem?.retryAt }: DebugPod, now: number): Fact[] {
  const { phase, ready, restarts, attempt, isDeleting, changedAt, problem, knownBy } = row;
  const facts: Fact[] = [];
  if (problem?.since !== undefined) facts.push(['In trouble since', <When at={problem.since} now={now} />]);
  if (retryAt !== undefined) facts.push(['Next try', retryAt <= now ? 'now' : <When at={retryAt} now={now} />]);
  facts.push([
    'Phase, as the agent says',
    `${phase ?? 'none'}, ${ready ? 'ready' : 'not ready'}${isDeleting ? ', deleting' : ''}`,
  ]);
  if (knownBy !== undefined) return [...facts, ['Without a status since', <When at={changedAt} now={now} />]];
  if (changedAt > 0) facts.push(['Changed', <When at={changedAt} now={now} />]);
  facts.push(['Version', versionOf(row)], ['Restarts', String(restarts)]);
  return attempt > 0 ? [...facts, ['Failures', `${attempt} in a row`]] : facts;
}
