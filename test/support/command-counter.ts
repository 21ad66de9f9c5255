const ASTERISK = 0x2a;

/** Counts the commands in what clients send to Redis: lists of texts, `*<count>\r\n` and for each `$<bytes>\r\n<text>\r\n`. */
export class CommandCounter {
  #count = 0;

  /** Commands that have come in whole. */
  get count(): number {
    return this.#count;
  }

  /** A reader of one connection's bytes, in whatever pieces they come. */
  stream(): (bytes: Buffer) => void {
    let unread: Buffer = Buffer.alloc(0);
    return (bytes) => {
      unread = Buffer.concat([unread, bytes]);
      for (let end = endOfCommand(unread); end !== undefined; end = endOfCommand(unread)) {
        this.#count += 1;
        unread = unread.subarray(end);
      }
    };
  }
}

/** Where the first command ends; `undefined` when it has not come in whole. */
function endOfCommand(bytes: Buffer): number | undefined {
  const head = lineAt(bytes, 0);
  if (head === undefined) return undefined;
  if (bytes[0] !== ASTERISK) throw new Error(`a client of Redis sends lists, got ${JSON.stringify(head.text)}`);
  let at = head.end;
  for (let texts = Number(head.text.slice(1)); texts > 0; texts -= 1) {
    const length = lineAt(bytes, at);
    if (length === undefined) return undefined;
    at = length.end + Number(length.text.slice(1)) + 2;
  }
  return at <= bytes.length ? at : undefined;
}

function lineAt(bytes: Buffer, start: number): { readonly text: string; readonly end: number } | undefined {
  const end = bytes.indexOf('\r\n', start);
  return end === -1 ? undefined : { text: bytes.toString('latin1', start, end), end: end + 2 };
}
