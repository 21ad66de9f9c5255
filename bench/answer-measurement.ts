/** Options as they came over the command line; each measurement says what it takes. */
type Given = ReturnType<typeof JSON.parse>;
type Measurement = (socketPath: string, options: Given) => Promise<unknown>;

/** Takes the measurement that the command line names, `NAME SOCKET OPTIONS`, prints its answer as JSON and ends. */
export async function answerMeasurement(measurements: Readonly<Record<string, Measurement>>): Promise<void> {
  const [name = '', socketPath = '', options = '{}'] = process.argv.slice(2);
  const measurement = measurements[name];
  if (!measurement) throw new Error(`no measurement ${name}; there are: ${Object.keys(measurements).join(', ')}`);
  const answer = await measurement(socketPath, JSON.parse(options));
  process.stdout.write(`${JSON.stringify(answer)}\n`, () => process.exit(0));
}
