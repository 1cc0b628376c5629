import type { VNode } from 'preact';
import { everyNode } from '../model/fleet-model.ts';
import type { Model } from '../model/model.ts';
import { toggled } from '../model/pod-filter.ts';
import { count, counted } from '../text/format.ts';
import { fleetStates, toneOfNode } from '../text/node-words.ts';
import { Chip } from './filter-bar.tsx';
import { filterInputId, focusById, tableId } from './keys.ts';

export function FleetFilterBar({ model }: { readonly model: Model }): VNode {
  const { filter, fleet } = model.fleet;
  const { byState = {}, known = 0, matching = 0 } = fleet ?? {};
  // what is chosen stays in the list when no node is left of it: else it could not be chosen off
  const states = [...new Set([...fleetStates, ...Object.keys(byState)])].filter(
    (state) => Object.hasOwn(byState, state) || filter.states.includes(state),
  );
  const isEmpty = filter.text.trim() === '' && filter.states.length === 0 && filter.trouble === everyNode.trouble;
  const failing = (byState.failed ?? 0) + (byState.unowned ?? 0);
  return (
    <search class="filter-bar">
      <input
        id={filterInputId}
        type="search"
        placeholder="Filter by node, owner or shard-7"
        aria-label="Filter by node, owner or shard"
        aria-keyshortcuts="/"
        autocomplete="off"
        spellcheck={false}
        value={filter.text}
        onInput={(event) => model.filterFleetBy({ text: event.currentTarget.value })}
        onKeyDown={(event) => intoTable(event, model)}
      />
      <div class="chip-groups">
        <Chip
          name="in trouble"
          title="Nodes that cannot start, or that nobody serves"
          look={failing === 0 ? 'plain' : 'tone-bad'}
          pods={failing}
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
      </div>
      <span class="spring" />
      <output class="muted" for={filterInputId}>
        {isEmpty ? '' : `${count(matching)} of `}
        {counted('node', known)}
      </output>
    </search>
  );
}

function intoTable(event: KeyboardEvent, model: Model): void {
  if (event.key !== 'ArrowDown' && event.key !== 'Enter') return;
  event.preventDefault();
  if (model.fleet.active < 0) model.fleet.moveActive(0);
  focusById(tableId);
}
