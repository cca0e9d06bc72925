/**
 * Runs a part of a test without the rights of root, for whom no permission is denied.
 */

const NOBODY = 65_534;

/** Runs `work` as an ordinary user, whoever runs the tests. */
export async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}
