import { Component, createRef, type VNode } from 'preact';
import type { DebugPod } from '../../../../src/observe/debug/debug-api.ts';
import { podAddress } from '../browser-stream.ts';
import type { Model } from '../model/model.ts';
import type { OpenPodState } from '../model/open-pod.ts';
import { age, duration } from '../text/format.ts';
import { manyLines } from '../text/json-text.ts';
import { toneOf } from '../text/sync-words.ts';
import { closePod } from './keys.ts';
import { versionOf } from './pod-row.tsx';
import { SyncPill } from './sync-pill.tsx';
import { Timeline } from './timeline.tsx';

export interface PodPanelProps {
  readonly model: Model;
  readonly state: OpenPodState;
}

/** One pod: why its status stands where it stands, and what has happened. */
export class PodPanel extends Component<PodPanelProps> {
  readonly #heading = createRef<HTMLHeadingElement>();

  override componentDidMount(): void {
    this.#heading.current?.focus();
  }

  override render({ model, state }: PodPanelProps): VNode {
    const { podUID, pod, problem } = state;
    const row = model.rows.get(podUID) ?? pod?.row;
    return (
      <section class="pod-panel" aria-labelledby="panel-title">
        <header>
          <div class="panel-name">
            <span class="muted">{row?.namespace ?? 'pod'}</span>
            <h2 id="panel-title" ref={this.#heading} tabIndex={-1}>
              {row?.name ?? podUID}
            </h2>
          </div>
          <a class="button quiet" href={podAddress(podUID)}>
            JSON
          </a>
          <button type="button" aria-keyshortcuts="Escape" onClick={() => closePod(model)}>
            Close
          </button>
        </header>
        <div class="panel-body">
          {problem === undefined ? null : (
            <p class="notice tone-bad" role="alert">
              {problem}
            </p>
          )}
          {pod === undefined ? <PodUnread hasProblem={problem !== undefined} /> : <PodRead model={model} pod={pod} />}
        </div>
      </section>
    );
  }
}

function PodUnread({ hasProblem }: { readonly hasProblem: boolean }): VNode | null {
  return hasProblem ? null : <p class="muted">Reading the pod …</p>;
}

function PodRead({ model, pod }: { readonly model: Model; readonly pod: DebugPod }): VNode {
  const { row, reason, differs, timeline, droppedEntries, status } = pod;
  return (
    <>
      <p class={`notice tone-${toneOf(row.sync)}`}>
        <SyncPill sync={row.sync} failures={row.failures} /> <span>{reason}</span>
      </p>
      <dl class="facts">
        {factsOf(pod, model.now()).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        {differs.length === 0 ? null : <Differs paths={differs} />}
      </dl>
      <h3>Timeline</h3>
      <Timeline entries={timeline} droppedEntries={droppedEntries} />
      <details class="status">
        <summary>
          <h3>Newest status</h3>
        </summary>
        <pre>{manyLines(status)}</pre>
      </details>
    </>
  );
}

function Differs({ paths }: { readonly paths: readonly string[] }): VNode {
  return (
    <div class="wide">
      <dt>Differs on the apiserver</dt>
      {paths.map((path) => (
        <dd key={path}>
          <code>{path}</code>
        </dd>
      ))}
    </div>
  );
}

function factsOf({ row, retryAt, node }: DebugPod, now: number): (readonly [name: string, value: string])[] {
  const facts: (readonly [string, string])[] = [
    ['Phase', `${row.phase ?? 'none'}, ${row.ready ? 'ready' : 'not ready'}`],
    ['Version', versionOf(row)],
    ['Changed', row.changedAt > now - 1000 ? 'now' : `${age(row.changedAt, now)} ago`],
    ['Restarts', String(row.restarts)],
  ];
  if (row.failures > 0) facts.push(['Failures', `${row.failures} in a row`]);
  if (retryAt !== undefined) facts.push(['Next try', retryAt <= now ? 'now' : `in ${duration(retryAt - now)}`]);
  return [...facts, ['UID', row.podUID], ...node];
}
