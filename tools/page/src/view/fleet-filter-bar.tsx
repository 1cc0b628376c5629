import type { VNode } from 'preact';
import { isEveryNode } from '../model/fleet-model.ts';
import type { Model } from '../model/model.ts';
import { toggled } from '../model/pod-filter.ts';
import { fleetStates, toneOfNode } from '../text/node-words.ts';
import { Chip, SearchBar, TroubleChip, withChosen } from './search-bar.tsx';

export function FleetFilterBar({ model }: { readonly model: Model }): VNode {
  const { filter, fleet } = model.fleet;
  const { byState = {}, known = 0, matching = 0 } = fleet ?? {};
  const states = withChosen([...fleetStates, ...Object.keys(byState)], filter.states).filter(
    (state) => Object.hasOwn(byState, state) || filter.states.includes(state),
  );
  return (
    <SearchBar
      label="Filter by node, owner or shard"
      placeholder="Filter by node, owner or shard-7"
      text={filter.text}
      word="node"
      size={known}
      matching={isEveryNode(filter) ? undefined : matching}
      onText={(text) => model.filterFleetBy({ text })}
      onLeave={() => {
        if (model.fleet.active < 0) model.fleet.moveActive(0);
      }}
      chips={
        <>
          <TroubleChip
            title="Nodes that cannot start, or that nobody serves"
            pods={(byState.failed ?? 0) + (byState.unowned ?? 0)}
            isPressed={filter.trouble}
            onPress={() => model.toggleTrouble()}
          />
          <fieldset class="chips" aria-label="State">
            {states.map((state) => (
              <Chip
                key={state}
                name={state}
                title={`Nodes that are ${state}, as this member sees it`}
                look={`tone-${toneOfNode(state)}`}
                pods={byState[state] ?? 0}
                isPressed={filter.states.includes(state)}
                onPress={() => model.filterFleetBy({ states: toggled(filter.states, state) })}
              />
            ))}
          </fieldset>
        </>
      }
    />
  );
}
