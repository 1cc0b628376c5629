import type { SteadyClock } from '../../base/clock.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { type EndedFailures, type Failing, FailureRun } from '../../base/failure-run.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { frozenProblem, type Problem, problemFields } from '../../base/problem.ts';
import { helped } from '../problem-help.ts';

/** Reviews are asked for when clients come: so long after the last failure nobody knows whether the next one fails. */
const forgottenAfterMs = 300_000;
/** Any client can bring a failure about, so that not each has a line. */
const betweenLines = { firstMs: 10_000, longestMs: 300_000 };

/** What a review tells. */
export type ReviewQuestion = 'sender' | 'right';

const unknown: Readonly<Record<ReviewQuestion, string>> = {
  sender: "nobody can say who sends a request to the node's API (TokenReview)",
  right: "nobody can say what the sender of a request to the node's API may do (SubjectAccessReview)",
};

interface FailedReviews {
  readonly run: FailureRun;
  /** Since the last success. */
  lines: number;
  /** When the next failure has a line, by `Clock.elapsed`. */
  nextLineAt: number;
}

export interface ReviewFailuresOptions {
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** Whether the apiserver gives reviews: without them requests to a node's API are refused. */
export class ReviewFailures {
  readonly #options: ReviewFailuresOptions;
  readonly #reviews: Readonly<Record<ReviewQuestion, FailedReviews>>;

  constructor(options: ReviewFailuresOptions) {
    this.#options = options;
    this.#reviews = { sender: this.#reviewsOf('sender'), right: this.#reviewsOf('right') };
  }

  /** `fields`: what the log says of the request. */
  failed(
    question: ReviewQuestion,
    err: unknown,
    fields: { readonly [name in 'username' | 'verb' | 'subresource']?: string },
  ): void {
    const { clock, logger } = this.#options;
    const reviews = this.#reviews[question];
    const failing = reviews.run.failed(err);
    if (failing.attempt === 1) reviews.lines = 0;
    if (reviews.lines > 0 && clock.elapsed() < reviews.nextLineAt) return;
    reviews.lines += 1;
    reviews.nextLineAt = clock.elapsed() + nthDelayMs(reviews.lines, betweenLines);
    const told = { err, ...fields, ...problemFields(problemOf(question, failing), clock.now()) };
    if (question === 'sender') logger.warn(told, "nobody can say who sends a request to the node's API (TokenReview)");
    else logger.warn(told, "nobody can say what the sender of a request to the node's API may do (SubjectAccessReview)");
  }

  /** The apiserver has given a review. */
  succeeded(question: ReviewQuestion): void {
    this.#reviews[question].run.succeeded();
  }

  problems(): Problem[] {
    return (['sender', 'right'] as const).flatMap((question) => {
      const { failing } = this.#reviews[question].run;
      return failing === undefined ? [] : [problemOf(question, failing)];
    });
  }

  #reviewsOf(question: ReviewQuestion): FailedReviews {
    const { clock, logger } = this.#options;
    const recovered = (ended: EndedFailures): void => {
      if (question === 'sender') logger.info(ended, "the apiserver says again who sends a request to the node's API");
      else logger.info(ended, "the apiserver says again what the sender of a request to the node's API may do");
    };
    return { run: new FailureRun(clock, recovered, forgottenAfterMs), lines: 0, nextLineAt: 0 };
  }
}

function problemOf(question: ReviewQuestion, { message, since, attempt }: Failing): Problem {
  return frozenProblem({ ...helped('reviews'), message: `${unknown[question]}: ${message}`, since, attempt });
}
