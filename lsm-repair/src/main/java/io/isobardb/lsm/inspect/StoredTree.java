package io.isobardb.lsm.inspect;

import io.isobardb.lsm.option.KeyOrder;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A tree as the files of a store describe it.
 *
 * @param options as they are stored, as text
 * @param order of its keys; null if it is not among those given
 * @param flushedLsn entries of this tree with lower LSNs are in SSTables
 * @param runs the newest first. Without the order of keys nobody can tell which SSTables are one
 *     run: then each is listed alone, with its place
 */
public record StoredTree(
    int id,
    String name,
    Map<String, String> options,
    @Nullable KeyOrder order,
    long flushedLsn,
    List<Run> runs) {

  /**
   * SSTables that are disjoint, in the order of their keys.
   *
   * @param name such as {@code L0 group 3} or {@code L2}
   */
  public record Run(String name, List<Table> tables) {
    /** {@return bytes of its files} */
    public long bytes() {
      return tables.stream().mapToLong(Table::bytes).sum();
    }
  }

  /**
   * An SSTable.
   *
   * @param file its name in the store's directory
   * @param bytes of the file
   * @param pages of the file
   * @param entries of it, delete markers included
   * @param deletes delete markers
   * @param keys those it begins and ends with
   * @param lsns the lowest and the highest of any entry
   * @param format how it is stored
   */
  public record Table(
      String file,
      long bytes,
      int pages,
      long entries,
      long deletes,
      Keys keys,
      Lsns lsns,
      Format format) {}

  /** The first and the last key. */
  public record Keys(byte[] first, byte[] last) {}

  /** The lowest and the highest LSN. */
  public record Lsns(long lowest, long highest) {}

  /**
   * How an SSTable is stored.
   *
   * @param indexHeight index pages on the way to a data page
   * @param filterBlocks 64-byte blocks of the filter; 0 if there is none
   * @param codec {@code NONE} or {@code LZ4}
   */
  public record Format(int indexHeight, int filterBlocks, String codec) {}
}
