import { type Static, Type } from 'typebox';

/** The costs that a policy can be asked about. */
export const LEAST_COST = 1e-6;
export const GREATEST_COST = 1e9;

/** Units that one call takes; its description completes "`cost` must be …". */
export const Cost = Type.Number({
  minimum: LEAST_COST,
  maximum: GREATEST_COST,
  default: 1,
  description: 'a number of units from 0.000001 to 1000000000',
});

/** The body of `POST /v1/check`. */
export const CheckRequest = Type.Object(
  {
    policy: Type.String({ description: 'the name of a policy' }),
    key: Type.Optional(
      Type.String({ description: "any text: whose calls count together within the tenant; without it, the tenant's" }),
    ),
    cost: Type.Optional(Cost),
    peek: Type.Optional(Type.Boolean({ default: false, description: 'true to ask without taking anything, or false' })),
    tenant: Type.Optional(Type.String({ minLength: 1, description: 'the id of a tenant; required with an admin key' })),
  },
  { additionalProperties: false, description: 'an object' },
);
export type CheckRequest = Static<typeof CheckRequest>;
