package io.isobardb.repair.format;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.sstable.PageLayout;
import io.isobardb.lsm.sstable.PageReader;
import io.isobardb.memory.page.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Whether a data or index page holds what its header says, within its bounds. A page with a right
 * checksum does, unless a program has written it wrongly: {@link PageReader} believes every length.
 */
final class PageCheck {
  private PageCheck() {}

  /** What is wrong with a page, or null: after that {@link PageReader} does not leave the page. */
  static @Nullable String problem(Memory memory, int base, int pageSize) {
    int count = memory.getUnsignedShort(base + PageLayout.COUNT);
    int prefix = memory.getUnsignedShort(base + PageLayout.PREFIX_LENGTH);
    int prefixAt = memory.getUnsignedShort(base + PageLayout.PREFIX_OFFSET);
    int width = memory.getByte(base + PageLayout.LSN_WIDTH);
    int heap = PageLayout.HEADER_BYTES + count * PageLayout.SLOT_BYTES;
    int end = pageSize - PageLayout.TAIL;
    if (count == 0 || heap > end) {
      return count + " slots";
    }
    if (width < 0 || width > 8) {
      return "LSNs of " + width + " bytes";
    }
    if (prefixAt + prefix > end || (prefix > 0 && prefixAt < heap)) {
      return "a prefix of " + prefix + " bytes at " + prefixAt;
    }
    for (int slot = 0; slot < count; slot++) {
      int entry = PageReader.entry(memory, base, slot);
      // The two numbers take ten bytes at most, and the tail is readable.
      if (entry < heap || entry + 3 + width > end || !fits(memory, base, entry, prefix, end)) {
        return "slot " + slot + ": an entry that leaves the page";
      }
      int kind = PageReader.kind(memory, base, entry);
      if (kind != Kind.CHILD && !Kind.isData(kind)) {
        return "slot " + slot + ": " + Kind.unknown(kind);
      }
    }
    return null;
  }

  private static boolean fits(Memory memory, int base, int entry, int prefix, int end) {
    int lengths = PageReader.skipVarint(memory, base + entry + 1);
    if (lengths >= base + end || PageReader.skipVarint(memory, lengths) > base + end) {
      return false;
    }
    int suffix = PageReader.suffixLength(memory, base, entry);
    int value = PageReader.valueLength(memory, base, entry);
    int at = PageReader.suffixOffset(memory, base, entry);
    if (suffix < 0
        || value < 0
        || (long) at + suffix + value > end
        || prefix + suffix > PageLayout.maxKeyBytes(end + PageLayout.TAIL)) {
      return false;
    }
    int kind = PageReader.kind(memory, base, entry);
    int stored = Kind.valueLength(kind, value);
    if (stored < 0) {
      return false;
    }
    return switch (Kind.plain(kind)) {
      case Kind.PUT_OVERFLOW, Kind.MERGE_OVERFLOW ->
          stored == PageLayout.OVERFLOW_REF_BYTES
              && PageReader.overflowLength(memory, base, entry) >= 0
              && isStart(PageReader.overflowStart(memory, base, entry), end);
      case Kind.CHILD -> value == Integer.BYTES;
      default -> true;
    };
  }

  /** Whether a value may begin behind so many bytes of others. */
  private static boolean isStart(int before, int end) {
    return before >= 0 && before < PageLayout.overflowBytes(end + PageLayout.TAIL);
  }
}
