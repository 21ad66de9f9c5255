/** A processor of BullMQ's sandbox that has nothing to do. */
export default async () => null;
