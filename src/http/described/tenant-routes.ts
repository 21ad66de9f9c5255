import type { DescribedRoutes } from './described-route.js';
import { EXAMPLE_KEY } from './example-world.js';

const path = { id: 'acme' };
const FROM_TIER = { value: '10/s', from: 'tier', at: 'tiers.pro' };
const TENANT = {
  tenant: 'acme',
  inFile: true,
  tier: { value: 'pro', from: 'file', at: 'tenants.acme' },
  types: { ocr: { paused: [], profile: { rate: FROM_TIER } } },
  webhook: { url: null, events: ['completed', 'failed', 'expired', 'cancelled'], signed: true },
  overrides: {},
  warnings: [],
};
const WEBHOOK = { url: 'https://hooks.example.com/headgate', events: ['completed', 'failed'] };
const OVERRIDDEN = { value: '2/s', from: 'override', at: 'tenants.acme.types.ocr' };
const CHANGED = {
  ...TENANT,
  types: { ocr: { paused: [], profile: { rate: OVERRIDDEN } } },
  overrides: { types: { ocr: { rate: '2/s' } } },
  retimed: 1,
};
const HELD_KEY = { id: EXAMPLE_KEY, prefix: 'hg_5f1d0', createdAt: '2026-11-30T12:00:00.000Z' };

/** Tenants, by an administrator. */
export const TENANT_ROUTES: DescribedRoutes = {
  'GET /v1/tenants': {
    summary: 'List tenants',
    description:
      'Every tenant that somebody named: in the file, by an override or with a key. In the order of their ids.',
    key: 'admin',
    answers: { 200: 'one page of tenants' },
    examples: {
      first: {
        query: { limit: 50 },
        status: 200,
        answer: { tenants: [{ tenant: 'acme', tier: 'pro', inFile: true }] },
      },
    },
  },
  'GET /v1/tenants/{id}': {
    summary: 'What holds for a tenant',
    description: 'Type by type, and who said so. Any id will do: one that nobody named has the default tier.',
    key: 'admin',
    answers: { 200: 'the tenant' },
    examples: { acme: { path, status: 200, answer: TENANT } },
  },
  'PUT /v1/tenants/{id}': {
    summary: 'State all overrides of a tenant',
    description:
      'Fields as in the configuration file. What the body does not name is cleared. Holds at once, for what already waits too.',
    key: 'admin',
    answers: { 200: 'the tenant, as it is now' },
    examples: { ocrRate: { path, body: { types: { ocr: { rate: '2/s' } } }, status: 200, answer: CHANGED } },
  },
  'PATCH /v1/tenants/{id}': {
    summary: 'Change some overrides of a tenant',
    description:
      'Fields as in the configuration file; `null` clears one. Holds at once, for what already waits too. A tenant whose webhook has no ' +
      'secret is given one, which is shown this once; `secret: null` makes a new one.',
    key: 'admin',
    answers: { 200: 'the tenant, as it is now' },
    examples: {
      ocrRate: { path, body: { types: { ocr: { rate: '2/s' } } }, status: 200, answer: CHANGED },
      webhook: {
        path: { id: 'small' },
        body: { webhook: WEBHOOK },
        status: 200,
        answer: {
          ...TENANT,
          tenant: 'small',
          tier: { value: 'pro', from: 'file', at: 'tenants.small' },
          webhook: { ...WEBHOOK, signed: true },
          webhookSecret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD0vUL5wBl3dc=',
          overrides: { webhook: WEBHOOK },
          retimed: 0,
        },
      },
    },
  },
  'DELETE /v1/tenants/{id}': {
    summary: 'Erase a tenant',
    description:
      'Clears its overrides, revokes its keys, cancels what waits, lets end what runs, and erases payloads and results. What the file ' +
      'says of it stays.',
    key: 'admin',
    answers: { 200: 'what holds from now on, and what is gone' },
    examples: {
      acme: { path, status: 200, answer: { ...TENANT, erased: 3, running: 1, more: false, retimed: 0 } },
    },
  },
  'POST /v1/tenants/{id}/pause': {
    summary: 'Pause a tenant',
    description: 'Nothing more of it starts, in all types or in the one of `type`. What runs is left alone.',
    key: 'admin',
    answers: { 200: 'why nothing starts, type by type' },
    examples: {
      ocr: {
        path,
        query: { type: 'ocr' },
        status: 200,
        answer: { tenant: 'acme', types: { ocr: { paused: ['hand'] } } },
      },
    },
  },
  'POST /v1/tenants/{id}/resume': {
    summary: 'Resume a tenant',
    description: 'Takes a pause back.',
    key: 'admin',
    answers: { 200: 'why nothing starts, type by type; empty where something does' },
    examples: {
      ocr: { path, query: { type: 'ocr' }, status: 200, answer: { tenant: 'acme', types: { ocr: { paused: [] } } } },
    },
  },
  'POST /v1/tenants/{id}/purge': {
    summary: 'Cancel all that waits of a tenant',
    description: 'Waiting and delayed jobs, of all types or of the one of `type`.',
    key: 'admin',
    answers: { 200: 'how many were cancelled' },
    examples: {
      all: {
        path,
        status: 200,
        answer: { tenant: 'acme', cancelled: 1, more: false, types: { ocr: { cancelled: 1 } } },
      },
    },
  },
  'POST /v1/tenants/{id}/keys': {
    summary: 'Make a key',
    description:
      'It is shown this once and stored as its hash, and opens every process at once. At most 100 for a tenant.',
    key: 'admin',
    answers: { 201: 'the key' },
    examples: {
      acme: {
        path,
        status: 201,
        answer: { tenant: 'acme', ...HELD_KEY, key: 'hg_5f1d0Zk3xQ8mN2vB7cT4yW9aL6eR1sU0pH5jD3gF8iK' },
      },
    },
  },
  'GET /v1/tenants/{id}/keys': {
    summary: 'List the keys of a tenant',
    description: 'Those made at run time, oldest first: how each begins, and when it was last used.',
    key: 'admin',
    answers: { 200: 'its keys' },
    examples: {
      acme: { path, status: 200, answer: { tenant: 'acme', keys: [{ ...HELD_KEY, lastUsedAt: null }] } },
    },
  },
  'DELETE /v1/tenants/{id}/keys/{key}': {
    summary: 'Revoke a key',
    description: 'By its id, in every process at once.',
    key: 'admin',
    answers: { 200: 'it opens nothing any more' },
    examples: {
      acme: {
        path: { ...path, key: EXAMPLE_KEY },
        status: 200,
        answer: { tenant: 'acme', id: EXAMPLE_KEY, revoked: true },
      },
    },
  },
};
