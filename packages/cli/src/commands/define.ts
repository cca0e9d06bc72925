/**
 * How a command hands its work to the program that runs it.
 */
import type { Command } from 'commander';
import type { Console } from '../console.ts';

/** A command's work: returns the exit code. */
export type Action<T> = (paths: string[], options: T, console: Console) => Promise<number>;

/** Adds a command's action, with the options that every command has. */
export type Define = <T extends object>(command: Command, action: Action<T>) => void;
