import type { VNode } from 'preact';
import type { DebugFleetNode } from '../../../../src/observe/debug/debug-fleet-api.ts';
import { fleetNodeAddress } from '../browser-stream.ts';
import type { Model } from '../model/model.ts';
import type { OpenPanelState } from '../model/open-panel.ts';
import { toneOfNode } from '../text/node-words.ts';
import { type Fact, Facts, factsOfLines, When } from './facts.tsx';
import { Panel } from './panel.tsx';
import { Trouble } from './trouble.tsx';

export interface FleetNodePanelProps {
  readonly model: Model;
  readonly state: OpenPanelState<DebugFleetNode>;
}

/** One node of the fleet: what is wrong, who owns it and why, and what it says of itself where it runs in this process. */
export function FleetNodePanel({ model, state }: FleetNodePanelProps): VNode {
  const { key, shown, failure } = state;
  return (
    <Panel
      model={model}
      above="node of the fleet"
      title={key}
      address={fleetNodeAddress(key)}
      failure={failure}
      waitsFor={shown === undefined ? 'node' : undefined}
    >
      {shown === undefined ? null : <NodeRead model={model} node={shown} />}
    </Panel>
  );
}

function NodeRead({ model, node }: { readonly model: Model; readonly node: DebugFleetNode }): VNode {
  const { state, why, problem, owner, shard, since } = node.row;
  const facts: Fact[] = [
    ['owner', owner ?? 'nobody'],
    ['shard', shard < 0 ? '–' : String(shard)],
    ['since', since === undefined ? '–' : <When at={since} now={model.now()} />],
  ];
  return (
    <>
      {problem === undefined ? null : <Trouble model={model} problem={problem} />}
      <p class={`notice tone-${toneOfNode(state)}`}>
        <strong>{state}</strong> <span>{why}</span>
      </p>
      <Facts facts={facts} />
      {node.lines.length === 0 ? null : (
        <section class="group">
          <h3>the node</h3>
          <Facts facts={factsOfLines(node.lines, model.now())} />
        </section>
      )}
    </>
  );
}
