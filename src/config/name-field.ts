import { type TextField, text } from './field.js';
import { nameFault } from './names.js';

/** The name of a type, a tier or a policy. */
export function name(description: string, defaultName?: string): TextField<string> {
  return text<string>({
    decode: (written) => {
      const fault = nameFault(written);
      return fault === undefined ? { value: written } : { fault };
    },
    expected: 'a name',
    written: 'name',
    default: defaultName,
    defaultText: defaultName,
    standIn: '',
    description,
  });
}
