import type { DescribedRoutes } from './described-route.js';

const tier = { name: 'pro' };
const type = { name: 'ocr' };
const RATE = { value: '10/s', from: 'file', at: 'tiers.pro' };
const TIER = { tier: 'pro', profile: { rate: RATE }, overrides: {}, warnings: [] };
const CHANGED_TIER = {
  ...TIER,
  profile: { rate: { ...RATE, value: '5/s', from: 'override' } },
  overrides: { rate: '5/s' },
  retimed: 1,
};
const CAPACITY = { value: '20/s', from: 'file', at: 'types.ocr.capacity' };
const TYPE = { type: 'ocr', paused: [], capacity: { rate: CAPACITY }, overrides: {}, warnings: [] };
const CHANGED_TYPE = {
  ...TYPE,
  capacity: { rate: { ...CAPACITY, value: '40/s', from: 'override' } },
  overrides: { capacity: { rate: '40/s' } },
  retimed: 0,
};

/** Tiers and types, which tenants share, by an administrator. */
export const SHARED_ROUTES: DescribedRoutes = {
  'GET /v1/tiers/{name}': {
    summary: 'What holds for a tier',
    description: 'The profile of its tenants, where they and their types say nothing else, and who said so.',
    key: 'admin',
    answers: { 200: 'the tier' },
    examples: { pro: { path: tier, status: 200, answer: TIER } },
  },
  'PUT /v1/tiers/{name}': {
    summary: 'State all overrides of a tier',
    description: 'Fields as in the configuration file. What the body does not name is cleared.',
    key: 'admin',
    answers: { 200: 'the tier, as it is now' },
    examples: { rate: { path: tier, body: { rate: '5/s' }, status: 200, answer: CHANGED_TIER } },
  },
  'PATCH /v1/tiers/{name}': {
    summary: 'Change some overrides of a tier',
    description: 'Fields as in the configuration file; `null` clears one.',
    key: 'admin',
    answers: { 200: 'the tier, as it is now' },
    examples: { rate: { path: tier, body: { rate: '5/s' }, status: 200, answer: CHANGED_TIER } },
  },
  'DELETE /v1/tiers/{name}': {
    summary: 'Clear all overrides of a tier',
    description: 'What the file says of it holds again.',
    key: 'admin',
    answers: { 200: 'the tier, as it is now' },
    examples: { pro: { path: tier, status: 200, answer: { ...TIER, retimed: 0 } } },
  },
  'GET /v1/types/{name}': {
    summary: 'The capacity of a type',
    description: 'What all tenants together may take, and who said so.',
    key: 'admin',
    answers: { 200: 'the type' },
    examples: { ocr: { path: type, status: 200, answer: TYPE } },
  },
  'PUT /v1/types/{name}': {
    summary: 'State all overrides of a type',
    description: 'Fields as in the configuration file. What the body does not name is cleared.',
    key: 'admin',
    answers: { 200: 'the type, as it is now' },
    examples: { rate: { path: type, body: { capacity: { rate: '40/s' } }, status: 200, answer: CHANGED_TYPE } },
  },
  'PATCH /v1/types/{name}': {
    summary: 'Change some overrides of a type',
    description: 'Fields as in the configuration file; `null` clears one.',
    key: 'admin',
    answers: { 200: 'the type, as it is now' },
    examples: { rate: { path: type, body: { capacity: { rate: '40/s' } }, status: 200, answer: CHANGED_TYPE } },
  },
  'DELETE /v1/types/{name}': {
    summary: 'Clear all overrides of a type',
    description: 'What the file says of it holds again.',
    key: 'admin',
    answers: { 200: 'the type, as it is now' },
    examples: { ocr: { path: type, status: 200, answer: { ...TYPE, retimed: 0 } } },
  },
  'POST /v1/types/{name}/pause': {
    summary: 'Pause a type',
    description: 'Nothing of it starts, for anybody. What runs is left alone.',
    key: 'admin',
    answers: { 200: 'why nothing starts' },
    examples: { ocr: { path: type, status: 200, answer: { type: 'ocr', paused: ['hand'] } } },
  },
  'POST /v1/types/{name}/resume': {
    summary: 'Resume a type',
    description: 'Takes a pause back.',
    key: 'admin',
    answers: { 200: 'why nothing starts; empty where something does' },
    examples: { ocr: { path: type, status: 200, answer: { type: 'ocr', paused: [] } } },
  },
  'POST /v1/types/{name}/purge': {
    summary: 'Cancel all that waits in a type',
    description: 'Waiting and delayed jobs of every tenant.',
    key: 'admin',
    answers: { 200: 'how many were cancelled' },
    examples: { ocr: { path: type, status: 200, answer: { type: 'ocr', cancelled: 1, more: false } } },
  },
};
