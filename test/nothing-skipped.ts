/**
 * A reporter that fails the run when a test was skipped: on the machine that must show everything, nothing may hide.
 */
import type { Reporter, TestModule } from 'vitest/node';

export default class NothingSkipped implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')].map((test) => test.fullName));
    if (skipped.length === 0) return;
    process.stderr.write(`skipped, where nothing may be:\n${skipped.map((name) => `  ${name}\n`).join('')}`);
    process.exitCode = 1;
  }
}
