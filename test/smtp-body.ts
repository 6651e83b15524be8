const END = Buffer.from("\r\n.\r\n");

/** A message as it comes after DATA, up to and with its final dot. */
export class SmtpBody {
  octets = 0;
  /** The final dot has come. */
  whole = false;
  // The line end before the message counts for a dot that comes at once.
  readonly #pieces: Buffer[] = [END.subarray(0, 2)];

  /** Takes what belongs to the message, and gives back the rest. */
  take(input: Buffer): Buffer {
    // The end may be spread over pieces, so the last octets before this one are looked at again.
    const before = Buffer.concat(this.#pieces.slice(-4)).subarray(-4);
    const spread = Buffer.concat([before, input.subarray(0, 4)]).indexOf(END);
    const at = spread >= 0 ? spread - before.length : input.indexOf(END);
    this.whole = spread >= 0 || at >= 0;
    const piece = this.whole ? input.subarray(0, at + END.length) : input;
    this.#pieces.push(piece);
    this.octets += piece.length;
    return input.subarray(piece.length);
  }

  /** The message as it was before it was prepared for the wire. */
  message(): Buffer {
    const stuffed = Buffer.concat(this.#pieces).subarray(2, this.whole ? -3 : undefined);
    if (!stuffed.includes("\r\n.") && stuffed[0] !== 0x2e) return stuffed;
    return Buffer.from(stuffed.toString("latin1").replace(/^\./gm, ""), "latin1");
  }
}
