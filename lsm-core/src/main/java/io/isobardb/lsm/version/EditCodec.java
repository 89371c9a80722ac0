package io.isobardb.lsm.version;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.sstable.Packing;
import io.isobardb.lsm.sstable.SSTableMeta;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Edits as bytes.
 *
 * <pre>
 * payload   edit*                       up to the payload's end
 * edit      varint treeId, field*, END
 * field     tag byte, contents          tags below; never renumber them
 * string    varint length, UTF-8        key: varint length, bytes
 * place     varint: number * 2, + 1 in L0; of a tier (MAX_LEVELS - 1 + number) * 2
 * codec     varint: 0 for none, 1 for LZ4, 2 if a string with its name and a varint with the length
 *           of the dictionary follow
 * range     varint: 1 if it has a first key, + 2 if it has an end; those keys; varint LSN
 * </pre>
 *
 * Decoding allocates in proportion to the payload, and fails with nothing but {@link
 * CorruptionException}.
 */
final class EditCodec {
  private static final int END = 1;
  private static final int CREATED = 2;
  private static final int DROPPED = 3;
  private static final int REMOVED = 4;
  private static final int MOVED = 5;
  private static final int ADDED = 6;
  private static final int LEVELS = 7;
  private static final int FLUSHED_LSN = 8;
  private static final int NEXT_FILE_NUMBER = 9;
  private static final int NEXT_TREE_ID = 10;
  private static final int CHECKPOINT_LSN = 11;
  private static final int LOG_START_LSN = 12;
  private static final int PROPERTY = 13;
  private static final int RANGE_DELETE = 14;
  private static final int RANGES_RESET = 15;
  private static final int RANGES_LSN = 16;
  private static final int ADDED_EXPIRING = 17;
  private static final int RENAMED = 18;

  /** What a range delete's bounds are. */
  private static final int HAS_FROM = 1;

  private static final int HAS_TO = 2;

  private EditCodec() {}

  /** A growing array of bytes. */
  static final class Output {
    private byte[] bytes = new byte[512];
    private int length;

    int length() {
      return length;
    }

    byte[] bytes() {
      return bytes;
    }

    void clear() {
      length = 0;
    }

    void skip(int count) {
      ensure(count);
      length += count;
    }

    void write(byte[] source) {
      ensure(source.length);
      System.arraycopy(source, 0, bytes, length, source.length);
      length += source.length;
    }

    private void ensure(int more) {
      if (bytes.length - length < more) {
        bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, Math.addExact(length, more)));
      }
    }

    private void tag(int tag) {
      ensure(1);
      bytes[length++] = (byte) tag;
    }

    private void varint(long value) {
      ensure(10);
      long rest = value;
      while ((rest & ~0x7FL) != 0) {
        bytes[length++] = (byte) (rest | 0x80);
        rest >>>= 7;
      }
      bytes[length++] = (byte) rest;
    }

    private void field(int tag, long value) {
      tag(tag);
      varint(value);
    }

    private void optional(int tag, long value) {
      if (value != VersionEdit.UNCHANGED) {
        field(tag, value);
      }
    }

    private void key(byte[] key) {
      varint(key.length);
      write(key);
    }

    private void string(String text) {
      key(text.getBytes(StandardCharsets.UTF_8));
    }

    private void place(Place place) {
      switch (place.kind()) {
        case GROUP -> varint(place.number() * 2 + 1);
        case TIER -> varint((Place.MAX_LEVELS - 1 + place.number()) * 2);
        case LEVEL -> varint(place.number() * 2);
      }
    }
  }

  static void encode(VersionEdit edit, Output out) {
    out.varint(edit.treeId());
    TreeDefinition created = edit.created();
    if (created != null) {
      out.tag(CREATED);
      out.string(created.name());
      out.varint(created.options().size());
      for (Map.Entry<String, String> option : created.options().entrySet()) {
        out.string(option.getKey());
        out.string(option.getValue());
      }
    }
    for (long file : edit.removed()) {
      out.field(REMOVED, file);
    }
    String renamed = edit.renamed();
    if (renamed != null) {
      out.tag(RENAMED);
      out.string(renamed);
    }
    for (VersionEdit.Moved moved : edit.moved()) {
      out.field(MOVED, moved.fileNumber());
      out.place(moved.to());
    }
    out.optional(LEVELS, edit.levels());
    for (VersionEdit.Added added : edit.added()) {
      SSTableMeta.Expiring expiring = added.meta().expiring();
      out.tag(expiring.count() == 0 ? ADDED : ADDED_EXPIRING);
      out.place(added.place());
      encode(added.meta(), out);
      if (expiring.count() > 0) {
        out.varint(expiring.count());
        out.varint(expiring.first());
        out.varint(expiring.last());
      }
    }
    out.optional(FLUSHED_LSN, edit.flushedLsn());
    if (edit.rangesReset()) {
      out.tag(RANGES_RESET);
    }
    for (RangeDelete delete : edit.rangeDeletes()) {
      encode(delete, out);
    }
    out.optional(RANGES_LSN, edit.rangesLsn());
    out.optional(NEXT_FILE_NUMBER, edit.nextFileNumber());
    out.optional(NEXT_TREE_ID, edit.nextTreeId());
    out.optional(CHECKPOINT_LSN, edit.checkpointLsn());
    out.optional(LOG_START_LSN, edit.logStartLsn());
    for (Map.Entry<String, String> property : edit.properties().entrySet()) {
      out.tag(PROPERTY);
      out.string(property.getKey());
      out.string(property.getValue());
    }
    if (edit.dropped()) {
      out.tag(DROPPED);
    }
    out.tag(END);
  }

  private static void encode(RangeDelete delete, Output out) {
    byte[] from = delete.from();
    byte[] to = delete.to();
    out.tag(RANGE_DELETE);
    out.varint((from == null ? 0 : HAS_FROM) | (to == null ? 0 : HAS_TO));
    if (from != null) {
      out.key(from);
    }
    if (to != null) {
      out.key(to);
    }
    out.varint(delete.lsn());
  }

  private static RangeDelete decodeRangeDelete(Input in) {
    int has = in.nonNegativeInt();
    byte[] from = (has & HAS_FROM) == 0 ? null : in.key();
    byte[] to = (has & HAS_TO) == 0 ? null : in.key();
    return new RangeDelete(from, to, in.nonNegative());
  }

  private static void encode(SSTableMeta meta, Output out) {
    out.varint(meta.fileNumber());
    out.varint(meta.pageCount());
    out.varint(meta.entries());
    out.varint(meta.deletes());
    out.key(meta.minKey());
    out.key(meta.maxKey());
    out.varint(meta.minLsn());
    out.varint(meta.maxLsn());
    out.varint(meta.rootPage());
    out.varint(meta.indexHeight());
    out.varint(meta.filterPage());
    out.varint(meta.filterBlocks());
    out.varint(meta.sizeBytes());
    out.varint(meta.packing().number());
    if (meta.packing().number() == Packing.NAMED) {
      out.string(meta.packing().codec());
      out.varint(meta.packing().dictionaryBytes());
    }
    out.varint(meta.pageMapPage());
  }

  /**
   * The edits in a payload.
   *
   * @param file the file's name, for errors
   * @param bytes the whole file
   */
  static List<VersionEdit> decode(String file, byte[] bytes, int start, int end) {
    Input in = new Input(file, bytes, start, end);
    List<VersionEdit> edits = new ArrayList<>();
    while (in.position < end) {
      int editStart = in.position;
      try {
        edits.add(decodeEdit(in));
      } catch (IllegalArgumentException | IllegalStateException e) {
        throw new CorruptionException(file, editStart, "an edit that can't be: " + e.getMessage());
      }
    }
    return edits;
  }

  private static VersionEdit decodeEdit(Input in) {
    int treeId = in.nonNegativeInt();
    VersionEdit.Builder edit =
        treeId == VersionEdit.STORE ? VersionEdit.store() : VersionEdit.of(treeId);
    for (int tag = in.tag(); tag != END; tag = in.tag()) {
      switch (tag) {
        case CREATED -> edit.create(decodeDefinition(in, treeId));
        case RENAMED -> edit.rename(in.string());
        case DROPPED -> edit.drop();
        case REMOVED -> edit.remove(in.nonNegative());
        case MOVED -> edit.move(in.nonNegative(), in.place());
        case ADDED -> edit.add(in.place(), decodeMeta(in, treeId, false));
        case ADDED_EXPIRING -> edit.add(in.place(), decodeMeta(in, treeId, true));
        case LEVELS -> edit.levels(in.nonNegativeInt());
        case FLUSHED_LSN -> edit.flushedLsn(in.nonNegative());
        case RANGES_RESET -> edit.resetRanges();
        case RANGE_DELETE -> edit.deleteRange(decodeRangeDelete(in));
        case RANGES_LSN -> edit.rangesLsn(in.nonNegative());
        case NEXT_FILE_NUMBER -> edit.nextFileNumber(in.nonNegative());
        case NEXT_TREE_ID -> edit.nextTreeId(in.nonNegativeInt());
        case CHECKPOINT_LSN -> edit.checkpointLsn(in.nonNegative());
        case LOG_START_LSN -> edit.logStartLsn(in.nonNegative());
        case PROPERTY -> edit.property(in.string(), in.string());
        default -> throw in.corrupt("unknown tag " + tag);
      }
    }
    return edit.build();
  }

  private static TreeDefinition decodeDefinition(Input in, int treeId) {
    String name = in.string();
    int count = in.nonNegativeInt();
    Map<String, String> options = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      options.put(in.string(), in.string());
    }
    return new TreeDefinition(treeId, name, options);
  }

  private static SSTableMeta decodeMeta(Input in, int treeId, boolean expires) {
    return new SSTableMeta(
        in.nonNegative(),
        treeId,
        in.nonNegativeInt(),
        in.nonNegative(),
        in.nonNegative(),
        in.key(),
        in.key(),
        in.nonNegative(),
        in.nonNegative(),
        in.nonNegativeInt(),
        in.nonNegativeInt(),
        in.nonNegativeInt(),
        in.nonNegativeInt(),
        in.nonNegative(),
        in.packing(),
        in.nonNegativeInt(),
        expires
            ? new SSTableMeta.Expiring(in.nonNegative(), in.nonNegative(), in.nonNegative())
            : SSTableMeta.Expiring.NONE);
  }

  /** Bounded reading of a payload. */
  private static final class Input {
    private final String file;
    private final byte[] bytes;
    private final int end;
    private int position;

    Input(String file, byte[] bytes, int start, int end) {
      this.file = file;
      this.bytes = bytes;
      this.position = start;
      this.end = end;
    }

    CorruptionException corrupt(String what) {
      return new CorruptionException(file, position, what);
    }

    int tag() {
      if (position == end) {
        throw corrupt("an edit is cut off");
      }
      return bytes[position++];
    }

    long nonNegative() {
      long value = 0;
      for (int shift = 0; shift < 63; shift += 7) {
        int next = tag();
        value |= (next & 0x7FL) << shift;
        if (next >= 0) {
          return value;
        }
      }
      throw corrupt("a number that is too large");
    }

    int nonNegativeInt() {
      long value = nonNegative();
      if (value > Integer.MAX_VALUE) {
        throw corrupt("a number that is too large");
      }
      return (int) value;
    }

    byte[] key() {
      int length = nonNegativeInt();
      if (length > end - position) {
        throw corrupt("a length of " + length + " where " + (end - position) + " bytes are left");
      }
      byte[] key = Arrays.copyOfRange(bytes, position, position + length);
      position += length;
      return key;
    }

    String string() {
      return new String(key(), StandardCharsets.UTF_8);
    }

    Packing packing() {
      int number = nonNegativeInt();
      return switch (number) {
        case 0 -> Packing.NONE;
        case 1 -> Packing.LZ4;
        case Packing.NAMED -> new Packing(string(), nonNegativeInt());
        default -> throw corrupt("codec " + number);
      };
    }

    Place place() {
      long value = nonNegative();
      long number = value >>> 1;
      if ((value & 1) != 0) {
        return Place.group(number);
      }
      return number < Place.MAX_LEVELS
          ? Place.level((int) number)
          : Place.tier(number - (Place.MAX_LEVELS - 1));
    }
  }
}
