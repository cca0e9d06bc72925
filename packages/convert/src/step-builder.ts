/**
 * Joins parts into steps that are worth a thread's while.
 * Knows sizes only, not what the parts do.
 */
import type { CopyStep, StepPart } from '@assay/core';

interface OpenStep {
  readonly parts: StepPart[];
  bytes: number;
}

/** Takes parts in output order. Checks gather in steps of their own, so as not to break runs of output. */
export class StepBuilder {
  #stepBytes: number;
  #steps: CopyStep[] = [];
  #open: OpenStep = { parts: [], bytes: 0 };
  #checks: OpenStep = { parts: [], bytes: 0 };

  constructor(stepBytes: number) {
    this.#stepBytes = stepBytes;
  }

  /** A part of `bytes` bytes; from `aloneFrom` bytes on it gets a step of its own. */
  add(part: StepPart, bytes: number, aloneFrom: number = Number.POSITIVE_INFINITY): void {
    if (bytes >= aloneFrom) {
      this.#open = this.#close(this.#open);
      this.#steps.push({ parts: [part] });
      return;
    }
    this.#open.parts.push(part);
    this.#open.bytes += bytes;
    if (this.#open.bytes >= this.#stepBytes) this.#open = this.#close(this.#open);
  }

  /** A part that writes nothing. */
  addCheck(part: StepPart, bytes: number): void {
    this.#checks.parts.push(part);
    this.#checks.bytes += bytes;
    if (this.#checks.bytes >= this.#stepBytes) this.#checks = this.#close(this.#checks);
  }

  /** All steps; nothing is added after it. */
  finish(): readonly CopyStep[] {
    this.#open = this.#close(this.#open);
    this.#checks = this.#close(this.#checks);
    return this.#steps;
  }

  #close({ parts }: OpenStep): OpenStep {
    if (parts.length > 0) this.#steps.push({ parts });
    return { parts: [], bytes: 0 };
  }
}
