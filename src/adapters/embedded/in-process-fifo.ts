const COMPACT_AT = 1024;

/** First in, first out; every operation takes constant time on average, also with many members. */
export class InProcessFifo<T> {
  private members: T[] = [];
  private head = 0;

  push(member: T): void {
    this.members.push(member);
  }

  peek(): T | undefined {
    return this.members[this.head];
  }

  shift(): T | undefined {
    const first = this.members[this.head];
    if (this.head < this.members.length) this.head += 1;
    if (this.head >= COMPACT_AT && this.head * 2 >= this.members.length) {
      this.members = this.members.slice(this.head);
      this.head = 0;
    }
    return first;
  }
}
