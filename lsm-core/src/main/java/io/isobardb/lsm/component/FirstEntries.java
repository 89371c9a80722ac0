package io.isobardb.lsm.component;

import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.page.Memory;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The first entries of an {@link ActiveTree}, on the Java heap and sorted as in a leaf, while they
 * are not worth a page. All versions stay. Immutable; any thread.
 */
final class FirstEntries {
  /** What an entry takes besides its key and value, about. */
  private static final int ENTRY_BYTES = 64;

  static final FirstEntries NONE = new FirstEntries(new Entry[0], 0);

  /**
   * An entry without an overflow chain.
   *
   * @param bytes key, value, and when it expires if it does
   * @param kind as it is stored
   */
  private record Entry(byte[] bytes, int keyLength, long lsn, int kind, long expiry) {
    static Entry of(Write write) {
      byte[] bytes = new byte[write.keyLength + write.valueBytes()];
      System.arraycopy(write.key, write.keyOffset, bytes, 0, write.keyLength);
      System.arraycopy(write.value, write.valueOffset, bytes, write.keyLength, write.valueLength);
      if (write.expiry != Expiry.NEVER) {
        Expiry.put(bytes, bytes.length - Expiry.BYTES, write.expiry);
      }
      return new Entry(bytes, write.keyLength, write.lsn, write.storedKind(), write.expiry);
    }

    int heapBytes() {
      return ENTRY_BYTES + bytes.length;
    }

    int storedLength() {
      return bytes.length - keyLength;
    }

    int valueLength() {
      return storedLength() - Expiry.bytes(expiry);
    }

    boolean hasKey(byte[] key, int offset, int length) {
      return Arrays.equals(bytes, 0, keyLength, key, offset, offset + length);
    }
  }

  private final Entry[] entries;
  private final int bytes;

  private FirstEntries(Entry[] entries, int bytes) {
    this.entries = entries;
    this.bytes = bytes;
  }

  /** What they take, about. */
  int bytes() {
    return bytes;
  }

  int count() {
    return entries.length;
  }

  /** These and one more, or with another in the place of the one with its key and LSN. */
  FirstEntries with(Write write, KeyOrder order) {
    Entry added = Entry.of(write);
    int at = lowerBound(order, write.key, write.keyOffset, write.keyLength, write.lsn);
    int rest = at;
    int more = added.heapBytes();
    if (at < entries.length
        && entries[at].lsn == write.lsn
        && entries[at].hasKey(write.key, write.keyOffset, write.keyLength)) {
      more -= entries[at].heapBytes();
      rest++;
    }
    Entry[] all = new Entry[at + 1 + entries.length - rest];
    System.arraycopy(entries, 0, all, 0, at);
    all[at] = added;
    System.arraycopy(entries, rest, all, at + 1, entries.length - rest);
    return new FirstEntries(all, bytes + more);
  }

  /** The first that is not before ({@code key}, {@code lsn}). */
  private int lowerBound(KeyOrder order, byte[] key, int offset, int length, long lsn) {
    int low = 0;
    int high = entries.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      Entry entry = entries[middle];
      int c = order.compare(entry.bytes, 0, entry.keyLength, key, offset, length);
      if (c < 0 || c == 0 && entry.lsn > lsn && entry.hasKey(key, offset, length)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** The newest version of a key up to an LSN, or null. */
  private @Nullable Entry newest(KeyOrder order, byte[] key, long lsn) {
    int at = lowerBound(order, key, 0, key.length, lsn);
    return at < entries.length && entries[at].hasKey(key, 0, key.length) ? entries[at] : null;
  }

  /** See {@link ActiveTree#newestLsn}. */
  long newestLsn(KeyOrder order, byte[] key) {
    Entry entry = newest(order, key, ActiveNodes.NEWEST);
    return entry == null ? Probe.ABSENT : entry.lsn;
  }

  /** See {@link ActiveTree#find}. */
  int find(KeyOrder order, byte[] key, Probe probe) {
    Entry entry = newest(order, key, Math.min(probe.lsn(), ActiveNodes.NEWEST));
    if (entry == null) {
      return Probe.ABSENT;
    }
    int said = probe.judge(entry.kind, entry.lsn, entry.expiry);
    if (said != Probe.HERE) {
      return said;
    }
    int length = entry.valueLength();
    if (probe.hasRoom(length)) {
      probe.target().put(probe.target().position(), entry.bytes, entry.keyLength, length);
    }
    return length;
  }

  /** Makes a leaf of them in a page that nobody else sees; they fit into it. */
  void copyTo(ActiveNodes nodes, Memory memory, int base) {
    nodes.format(memory, base, 0, false, entries.length, 0);
    for (int i = 0; i < entries.length; i++) {
      Entry entry = entries[i];
      int stored = entry.storedLength();
      int offset = nodes.take(memory, base, ActiveNodes.entryBytes(entry.keyLength, stored));
      long tag = ActiveNodes.tag(entry.lsn, entry.kind);
      int value =
          ActiveNodes.writeEntry(
              memory, base + offset, entry.bytes, 0, entry.keyLength, stored, 0, tag);
      memory.put(value, entry.bytes, entry.keyLength, stored);
      nodes.insertSlot(memory, base, i, nodes.head(entry.bytes, 0, entry.keyLength, 0), offset);
    }
  }
}
