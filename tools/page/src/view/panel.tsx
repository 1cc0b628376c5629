import { Component, type ComponentChildren, createRef, type VNode } from 'preact';
import type { Model } from '../model/model.ts';
import { closePanel } from './keys.ts';

export interface PanelProps {
  readonly model: Model;
  /** What stands above the title: a namespace, the kind of a part. */
  readonly above: string;
  readonly title: string;
  /** Where the same is as JSON. */
  readonly address: string;
  /** Why the last read gave nothing. */
  readonly failure: string | undefined;
  /** What is read, while there is nothing of it to show. */
  readonly waitsFor: string | undefined;
  readonly children: ComponentChildren;
}

/** What stands beside the table, or covers it on a phone: its heading has the focus when it opens. */
export class Panel extends Component<PanelProps> {
  readonly #heading = createRef<HTMLHeadingElement>();

  override componentDidMount(): void {
    this.#heading.current?.focus();
  }

  override render({ model, above, title, address, failure, waitsFor, children }: PanelProps): VNode {
    return (
      <section class="pod-panel" aria-labelledby="panel-title">
        <header>
          <div class="panel-name">
            <span class="muted">{above}</span>
            <h2 id="panel-title" ref={this.#heading} tabIndex={-1}>
              {title}
            </h2>
          </div>
          <a class="button quiet" href={address}>
            JSON
          </a>
          <button type="button" aria-keyshortcuts="Escape" onClick={() => closePanel(model)}>
            Close
          </button>
        </header>
        <div class="panel-body">
          {failure === undefined ? null : (
            <p class="notice tone-bad" role="alert">
              {failure}
            </p>
          )}
          {waitsFor !== undefined && failure === undefined ? <p class="muted">Reading the {waitsFor} …</p> : null}
          {children}
        </div>
      </section>
    );
  }
}
