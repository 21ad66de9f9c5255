import { resolve } from 'node:path';
import Type from 'typebox';
import { choice, freeObject, quantity, text } from './field.js';
import { handlerPath } from './handler-path.js';
import { MODES } from './mode.js';
import { name } from './name-field.js';
import { CapacityFields } from './profile-schema.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MB = 1024 * 1024;
const COST_RANGE = { least: 0.001, most: 10_000 } as const;

/** The shapes of a cost rule: a number, a field of the payload, or the request's own cost. */
export const CostRuleFields = Type.Union(
  [
    quantity('number', { ...COST_RANGE, description: 'Every job costs this many units.' }),
    Type.Object({
      from: text<string>({
        decode: (path) =>
          /^data(\.[^.\s]{1,100}){0,20}$/.test(path)
            ? { value: path }
            : { fault: 'expected the place of a number in the payload, such as data.pages' },
        expected: 'the place of a number in the payload, such as data.pages',
        written: 'path such as `data.pages`',
        standIn: 'data',
        description: 'The number in the payload that is the cost.',
      }),
      min: quantity('number', { ...COST_RANGE, description: 'A smaller number costs this much.' }),
      max: quantity('number', { ...COST_RANGE, description: 'A greater number is refused with 422.' }),
      default: Type.Optional(
        quantity('number', {
          ...COST_RANGE,
          description: 'Cost of a job without the field; unless stated, such a job is refused with 400.',
        }),
      ),
    }),
    Type.Object({
      request: Type.Object({
        min: quantity('number', { ...COST_RANGE, description: 'A smaller `cost` in the request counts as this much.' }),
        max: quantity('number', { ...COST_RANGE, description: 'A greater `cost` in the request is refused with 422.' }),
      }),
      default: quantity('number', { ...COST_RANGE, description: 'Cost of a job whose request names none.' }),
    }),
  ],
  {
    default: 1,
    written: 'number or mapping',
    expected: 'a number, {from: data.FIELD, min, max, default?} or {request: {min, max}, default}',
    description: 'Units that a job takes from its bucket: one of the three forms below.',
  },
);

/** A job type as the file states it. */
export const TypeFields = Type.Object({
  handler: Type.Optional(
    text<string>({
      decode: (path, { folder }) => handlerPath(path, folder),
      expected: 'the path of a TypeScript or JavaScript file, or the name of a built-in handler such as echo',
      written: 'path, or name of a built-in',
      description: 'The module that runs the jobs; without it, only workers elsewhere can serve the type.',
    }),
  ),
  mode: choice(MODES, {
    default: MODES[0],
    description:
      'Whether jobs above their rate wait (`shape`) or are refused (`police`); a tier or tenant may say otherwise.',
  }),
  policy: Type.Optional(name('A policy that every job of the type is held to at the door, before it may wait.')),
  cost: CostRuleFields,
  schema: Type.Optional(
    text<string>({
      decode: (path, { folder }) => ({ value: resolve(folder, path) }),
      expected: 'the path of a JSON Schema file',
      written: 'path',
      description: 'JSON Schema (draft 3 to 2020-12) that the `data` of every job has to match.',
    }),
  ),
  capacity: CapacityFields,
  timeout: quantity('duration', {
    least: 1,
    most: DAY_MS,
    default: 60_000,
    description: 'How long a job may run before its attempt counts as failed.',
  }),
  attempts: quantity('count', {
    least: 1,
    most: 100,
    default: 3,
    description: 'How often a job is tried in all before it has failed.',
  }),
  backoff: Type.Object({
    type: choice(['exponential', 'fixed'], {
      default: 'exponential',
      description: 'Whether the wait before a retry doubles each time or stays the same.',
    }),
    delay: quantity('duration', {
      least: 0,
      most: DAY_MS,
      default: 1000,
      description: 'Wait before the first retry.',
    }),
    max: quantity('duration', {
      least: 0,
      most: DAY_MS,
      default: 60_000,
      description: 'Longest wait before a retry.',
    }),
  }),
  retry: choice(['back', 'front'], {
    default: 'back',
    description:
      'Where a job waits that is tried again, once its wait is over: at the back or the front of its priority.',
  }),
  maxHold: quantity('duration', {
    least: 0,
    most: DAY_MS,
    default: 300_000,
    description: 'For how long a busy upstream holds a bucket, or the type, at most.',
  }),
  maxReturns: quantity('count', {
    least: 0,
    most: 1000,
    default: 10,
    description: 'How often a job may come back from a busy upstream before that uses an attempt.',
  }),
  threadMemory: quantity('size', {
    least: 16 * MB,
    most: 64 * 1024 * MB,
    default: 512 * MB,
    description: 'Largest heap of a thread of a handler with `isolate`; a job that needs more fails.',
  }),
  keepResults: Type.Object({
    age: quantity('duration', {
      least: 1000,
      most: 365 * DAY_MS,
      default: HOUR_MS,
      description: 'How long the result of an ended job can be read.',
    }),
    count: quantity('count', {
      least: 1,
      most: 1e6,
      default: 1000,
      description: 'How many ended jobs of a bucket are kept at most.',
    }),
  }),
  slack: Type.Optional(
    quantity('duration', {
      least: 0,
      most: 60_000,
      description:
        'Lateness within which a bucket keeps its place in the ideal schedule; unless stated, half the time between two units, at least 25 ms and at most 250 ms.',
    }),
  ),
  maxPayload: quantity('size', {
    least: 1,
    most: 64 * MB,
    default: MB,
    description: 'Largest `data` of one job, as JSON text; a larger one is answered 413.',
  }),
  options: freeObject('Settings of the handler, passed to it as they are.'),
});
export type TypeFields = Type.Static<typeof TypeFields>;
