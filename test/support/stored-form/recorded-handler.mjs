/** What serves the jobs while a stored form is recorded: those that are to be found running never end. */
export default {
  async run({ data }) {
    if (data.fail === true) throw new Error('it was to fail');
    if (data.runs === true) await new Promise((resolve) => setTimeout(resolve, 3_600_000));
    return { done: true };
  },
};
