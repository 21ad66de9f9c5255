import { Unrecoverable } from '../../handler.js';
import { PrivateAddressError } from './public-address.js';

/** Says what failed on the way without the addresses that Node's own messages name: the tenant reads them. */
export async function reached<T>(act: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await act();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PrivateAddressError) throw new Unrecoverable(error.message);
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    if (code === undefined) throw error;
    throw new Error(`the upstream could not be reached, or broke off (${code})`, { cause: error });
  }
}
