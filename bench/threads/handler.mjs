/** A handler of Headgate that has nothing to do. */
export default { run: async () => null };
