import type { Comment, ProjectReflection } from 'typedoc';
import { completeExample } from './complete-example.ts';

function complete({ blockTags }: Comment): void {
  for (const { tag, content } of blockTags) {
    if (tag !== '@example') continue;
    for (const part of content) if (part.kind === 'code') part.text = completeExample(part.text);
  }
}

/** Completes the examples of all doc comments. */
export function completeExamples(project: ProjectReflection): void {
  const comments = new Set(Object.values(project.reflections).flatMap(({ comment }) => comment ?? []));
  for (const comment of comments) complete(comment);
}
