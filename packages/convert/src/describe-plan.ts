/**
 * A plan as plain JSON, for `--dry-run --json` and for comparing plans.
 * Every byte range is in it; the steps, which follow from the ranges, are summed up.
 */
import { crc32ToHex, stepOutputBytes, type Fact, type Finding, type Piece } from '@assay/core';
import type { ConversionPlan } from './conversion-plan.ts';

/** A value that JSON can say. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** The plan as a JSON value: dimensions above 2^53-1 as text, bytes as hex, maps as lists of pairs, never a file's name as a key. */
export function describePlan(plan: ConversionPlan): { readonly [name: string]: Json } {
  const { input, output, steps, checks, aliases, leftOut, findings, ok } = plan;
  return {
    ok,
    input: { ...input },
    output: {
      byteLength: output.byteLength,
      headerByteLength: output.header.length,
      metadata: [...output.metadata].map(([key, value]) => ({ key, value })),
      tensors: output.tensors.map(({ name, dtype, shape, start, end, source }) => ({
        name,
        dtype,
        shape: shape.map(toJson),
        start,
        end,
        source: source.map(describePiece),
      })),
    },
    aliases: aliases.map(({ name, keptAs }) => ({ name, keptAs })),
    leftOut: leftOut.map(describeFinding),
    findings: findings.map(describeFinding),
    steps: steps.map((step) => ({ parts: step.parts.length, outputBytes: stepOutputBytes(step) })),
    checks: checks.map(({ member, source, start, end, crc32, results }) => ({
      member,
      source,
      start,
      end,
      crc32: crc32ToHex(crc32),
      parts: results.length,
    })),
  };
}

function describePiece(piece: Piece): Json {
  if (piece.kind === 'inline') return { kind: 'inline', bytes: Array.from(piece.bytes, (byte) => byte.toString(16).padStart(2, '0')).join('') };
  // Pieces are plain numbers and texts.
  return structuredClone(piece) as unknown as Json;
}

function describeFinding({ code, severity, subject, args }: Finding): Json {
  return { code, severity, subject: { ...subject }, args: toJson(args) };
}

function toJson(fact: Fact): Json {
  if (typeof fact === 'bigint') return fact <= BigInt(Number.MAX_SAFE_INTEGER) && fact >= -BigInt(Number.MAX_SAFE_INTEGER) ? Number(fact) : String(fact);
  if (typeof fact !== 'object' || fact === null) return fact;
  if (Array.isArray(fact)) return (fact as readonly Fact[]).map(toJson);
  return Object.fromEntries(Object.entries(fact).map(([name, value]) => [name, toJson(value)]));
}
