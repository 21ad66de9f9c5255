/**
 * Takes the data out of a stream of server-sent events (WHATWG HTML, 9.2.6), however its text is cut. Names, ids and
 * retry times are left out; an event that the stream ends in the middle of does not count.
 */
export class EventData {
  #pending = '';
  #data: string[] = [];
  #first = true;

  /** The data of each event that `text` completes. */
  take(text: string): string[] {
    const fresh = this.#first && text.startsWith('\ufeff') ? text.slice(1) : text;
    if (text !== '') this.#first = false;
    // A carriage return at the very end may be half of a line's end: it waits for what follows.
    const joined = this.#pending + fresh;
    if (!/[\r\n]/.test(fresh) && !this.#pending.endsWith('\r')) {
      this.#pending = joined;
      return [];
    }
    const held = joined.endsWith('\r') ? '\r' : '';
    const lines = joined.slice(0, joined.length - held.length).split(/\r\n|\n|\r/);
    this.#pending = (lines.pop() ?? '') + held;
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): string[] {
    if (line === '') {
      const data = this.#data;
      this.#data = [];
      return data.length === 0 ? [] : [data.join('\n')];
    }
    const found = /^data(?:: ?(.*))?$/s.exec(line);
    if (found !== null) this.#data.push(found[1] ?? '');
    return [];
  }
}
