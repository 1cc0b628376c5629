import type { VNode } from 'preact';
import type { DebugPart } from '../../../../src/observe/debug/debug-api.ts';
import { partAddress } from '../browser-stream.ts';
import type { Model } from '../model/model.ts';
import type { OpenPanelState } from '../model/open-panel.ts';
import { count } from '../text/format.ts';
import { Facts, factsOfLines, holdsTime, inWords } from './facts.tsx';
import { Panel } from './panel.tsx';
import { Trouble } from './trouble.tsx';

export interface PartPanelProps {
  readonly model: Model;
  readonly state: OpenPanelState<DebugPart>;
}

/** A node or a scheduler: what is wrong, then what each of its parts did last. */
export function PartPanel({ model, state }: PartPanelProps): VNode {
  const { key, shown, failure } = state;
  return (
    <Panel
      model={model}
      above={key}
      title={shown?.name || model.summary?.node?.name || key}
      address={partAddress(key)}
      failure={failure}
      waitsFor={shown === undefined ? key : undefined}
    >
      {shown === undefined ? null : <PartRead model={model} part={shown} />}
    </Panel>
  );
}

type Lines = DebugPart['lines'];

function PartRead({ model, part }: { readonly model: Model; readonly part: DebugPart }): VNode {
  const { state, problems, problemCount, lines } = part;
  const groups = Map.groupBy(lines, ([name]) => /^[^.]*(?=\.)/.exec(name)?.[0] ?? '');
  const own = groups.get('') ?? [];
  groups.delete('');
  const inGroups = [...groups].map(([name, all]): readonly [string, Lines] => [
    name,
    all.map(([full, value]) => [full.slice(name.length + 1), value]),
  ]);
  const active = inGroups.filter(([, all]) => all.some(([, value]) => holdsTime(value)));
  const others = inGroups.filter((group) => !active.includes(group));
  return (
    <>
      {problems.map((problem) => (
        <Trouble key={`${problem.kind} ${problem.podUID} ${problem.message}`} model={model} problem={problem} />
      ))}
      {problemCount > problems.length ? <p>and {count(problemCount - problems.length)} more</p> : null}
      {problemCount === 0 ? (
        <p class={`notice tone-${state === 'running' ? 'good' : 'idle'}`}>It is {state}. Nothing is wrong.</p>
      ) : null}
      <Facts facts={factsOfLines(own, model.now())} />
      {active.map((group) => (
        <Group key={group[0]} group={group} now={model.now()} />
      ))}
      {others.length === 0 ? null : (
        <details class="more">
          <summary>
            <h3>Everything else</h3>
          </summary>
          {others.map((group) => (
            <Group key={group[0]} group={group} now={model.now()} />
          ))}
        </details>
      )}
    </>
  );
}

function Group({ group: [name, lines], now }: { readonly group: readonly [string, Lines]; readonly now: number }): VNode {
  return (
    <section class="group">
      <h3>{inWords(name)}</h3>
      <Facts facts={factsOfLines(lines, now)} />
    </section>
  );
}
