import type { VNode } from 'preact';
import type { Model } from '../model/model.ts';
import { isEmpty, toggled } from '../model/pod-filter.ts';
import { orderText, parseOrder, sortKeys } from '../model/pod-order.ts';
import { meaningOf, rankOf, type Sync, toneOf } from '../text/sync-words.ts';
import { Chip, SearchBar, TroubleChip, withChosen } from './search-bar.tsx';

export function FilterBar({ model }: { readonly model: Model }): VNode {
  const { filter, shown, size } = model.rows;
  const { bySync = {}, byPhase = {}, inTrouble = 0 } = model.summary ?? {};
  const states = withChosen(Object.keys(bySync), filter.sync) as Sync[];
  return (
    <SearchBar
      label="Filter by name, namespace or UID"
      placeholder="Filter by name, namespace or UID"
      text={filter.text}
      word="pod"
      size={size}
      matching={isEmpty(filter) ? undefined : shown.length}
      sort={<SortSelect model={model} />}
      onText={(text) => model.filterBy({ text })}
      onLeave={() => {
        if (model.activeIndex() < 0) model.moveActive(0);
      }}
      chips={
        <>
          <TroubleChip
            title="Pods with a problem"
            pods={inTrouble}
            isPressed={filter.trouble}
            onPress={() => model.filterBy({ trouble: !filter.trouble })}
          />
          <fieldset class="chips" aria-label="Sync state">
            {states
              .sort((a, b) => rankOf(a) - rankOf(b))
              .map((state) => (
                <Chip
                  key={state}
                  name={state}
                  title={meaningOf(state)}
                  look={inTrouble > 0 && toneOf(state) === 'good' ? 'plain' : `tone-${toneOf(state)}`}
                  pods={bySync[state] ?? 0}
                  isPressed={filter.sync.includes(state)}
                  onPress={() => model.filterBy({ sync: toggled(filter.sync, state) })}
                />
              ))}
          </fieldset>
          <fieldset class="chips" aria-label="Phase">
            {withChosen(Object.keys(byPhase), filter.phase)
              .sort()
              .map((phase) => (
                <Chip
                  key={phase}
                  name={phase}
                  title={`Pods of the phase ${phase}`}
                  look="plain"
                  pods={byPhase[phase] ?? 0}
                  isPressed={filter.phase.includes(phase)}
                  onPress={() => model.filterBy({ phase: toggled(filter.phase, phase) })}
                />
              ))}
          </fieldset>
        </>
      }
    />
  );
}

/** Where the table has no head, on a phone. */
function SortSelect({ model }: { readonly model: Model }): VNode {
  return (
    <select
      class="sort-select"
      aria-label="Sort by"
      value={orderText(model.rows.order)}
      onChange={(event) => model.sortBy(parseOrder(event.currentTarget.value))}
    >
      {Object.entries(sortKeys).flatMap(([value, title]) => [
        <option key={value} value={value}>
          {title} ↑
        </option>,
        <option key={`-${value}`} value={`-${value}`}>
          {title} ↓
        </option>,
      ])}
    </select>
  );
}
