package io.isobardb.lsm.version;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.sstable.TableSpace;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A tree as the manifest knows it: what was said when it was created.
 *
 * @param id 1 or more; never used again in the store
 * @param name unique among the trees that exist
 * @param options the tree's options as text, the name of its key order among them; immutable
 */
public record TreeDefinition(int id, String name, Map<String, String> options) {
  /** The options of the definition that was made last: thousands of trees may have the same. */
  private static volatile Map<String, String> latest = Map.of();

  /** Checks the ID and takes a copy of the options, in the order of their names. */
  public TreeDefinition {
    if (id < 1) {
      throw new IllegalArgumentException("tree ID " + id);
    }
    options = shared(options);
  }

  private static Map<String, String> shared(Map<String, String> options) {
    Map<String, String> known = latest;
    if (known.equals(options)) {
      return known;
    }
    Map<String, String> copy = Collections.unmodifiableMap(new TreeMap<>(options));
    latest = copy;
    return copy;
  }

  /** The same tree by another name. */
  public TreeDefinition named(String other) {
    return new TreeDefinition(id, other, options);
  }

  /** The definition as bytes, which SSTables hold for the case that the manifest is lost. */
  public byte[] encode() {
    EditCodec.Output out = new EditCodec.Output();
    EditCodec.encode(VersionEdit.create(this), out);
    return Arrays.copyOf(out.bytes(), out.length());
  }

  /** What SSTables, and errors in them, say of the tree. */
  public TableSpace.TreeLabel label() {
    return new TableSpace.TreeLabel(name, encode());
  }

  /**
   * What {@link #encode} gave, or null if it is not that.
   *
   * @param file where the bytes were found
   */
  public static @Nullable TreeDefinition decode(String file, byte[] bytes) {
    try {
      List<VersionEdit> edits = EditCodec.decode(file, bytes, 0, bytes.length);
      return edits.size() == 1 ? edits.get(0).created() : null;
    } catch (CorruptionException e) {
      return null;
    }
  }
}
