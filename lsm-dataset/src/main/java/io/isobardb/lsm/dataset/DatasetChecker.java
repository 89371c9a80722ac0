package io.isobardb.lsm.dataset;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.ShownKey;
import io.isobardb.lsm.error.TreeDroppedException;
import io.isobardb.lsm.option.KeyOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Compares indexes with the primary tree, both ways: each index key of each record must have its
 * entry, and each entry a record with that index key. An index that is dropped meanwhile is left
 * out.
 *
 * <p>The entries that one tree asks of the other are collected in pieces of some megabytes, and
 * looked up in the other's order. So each piece reads a page once, however small the cache is.
 *
 * <p>Thread rule: one thread.
 */
final class DatasetChecker {
  /** Keys looked up at a time: so many values lie on the heap. */
  private static final int CHUNK = 256;

  /** What an entry of a piece takes beside its bytes: three objects, and a place. */
  private static final int ENTRY_BYTES = 72;

  private static final int MOST_FINDINGS = 20;

  /** An entry that is there, or has to be, and its record's key. */
  private record Entry(byte[] entryKey, byte[] key) {}

  private static final class Tally {
    final SecondaryIndex index;
    final List<String> findings = new ArrayList<>();
    final List<Entry> piece = new ArrayList<>();
    long entries;
    long stale;
    long errors;
    boolean dropped;

    Tally(SecondaryIndex index) {
      this.index = index;
    }

    void error(String finding) {
      errors++;
      if (findings.size() < MOST_FINDINGS) {
        findings.add(finding);
      }
    }
  }

  private final View view;
  private final Tree primary;
  private final long pieceBytes;
  private final List<Tally> tallies;
  private long bytes;

  /**
   * @param pieceBytes of the heap, more or less, that entries are sorted in
   */
  DatasetChecker(View view, Tree primary, List<SecondaryIndex> indexes, long pieceBytes) {
    this.view = view;
    this.primary = primary;
    this.pieceBytes = pieceBytes;
    this.tallies = indexes.stream().map(Tally::new).toList();
  }

  DatasetCheck run() {
    long records = checkRecords();
    tallies.forEach(this::checkEntries);
    return new DatasetCheck(
        records,
        tallies.stream()
            .filter(tally -> !tally.dropped)
            .map(
                tally ->
                    new DatasetCheck.IndexCheck(
                        tally.index.name(),
                        tally.entries,
                        tally.stale,
                        tally.errors,
                        tally.findings))
            .toList());
  }

  private long checkRecords() {
    long records = 0;
    try (Cursor cursor = view.cursor(primary, CursorOptions.all())) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        records++;
        byte[] key = cursor.key();
        byte[] value = cursor.value();
        for (Tally tally : tallies) {
          expect(tally, key, value);
        }
        if (bytes >= pieceBytes) {
          tallies.forEach(this::compareRecords);
          bytes = 0;
        }
      }
    }
    tallies.forEach(this::compareRecords);
    return records;
  }

  /** Notes the entries that a record must have. */
  private void expect(Tally tally, byte[] key, byte[] value) {
    try {
      for (byte[] indexKey : tally.index.keys(key, value)) {
        add(tally, new Entry(tally.index.entryKey(indexKey, key), key));
      }
    } catch (ExtractorException e) {
      tally.error(e.getMessage());
    }
  }

  private void add(Tally tally, Entry entry) {
    tally.piece.add(entry);
    bytes += entry.entryKey.length + entry.key.length + ENTRY_BYTES;
  }

  /** The piece, by the keys looked up in a tree, some entries at a time; empty afterwards. */
  private static void forChunks(
      Tally tally, Tree tree, Function<Entry, byte[]> lookedUp, Consumer<List<Entry>> look) {
    List<Entry> piece = tally.piece;
    KeyOrder order = tree.options().keyOrder();
    piece.sort(
        Comparator.comparing(lookedUp, (a, b) -> order.compare(a, 0, a.length, b, 0, b.length)));
    for (int from = 0; from < piece.size() && !tally.dropped; from += CHUNK) {
      look.accept(piece.subList(from, Math.min(from + CHUNK, piece.size())));
    }
    piece.clear();
  }

  /** Looks whether the entries of the piece are there. */
  private void compareRecords(Tally tally) {
    forChunks(tally, tally.index.tree(), Entry::entryKey, chunk -> compareRecords(tally, chunk));
  }

  private void compareRecords(Tally tally, List<Entry> chunk) {
    List<byte @Nullable []> values;
    try {
      values = view.getAll(tally.index.tree(), chunk.stream().map(Entry::entryKey).toList());
    } catch (TreeDroppedException e) {
      tally.dropped = true;
      return;
    }
    for (int i = 0; i < values.size(); i++) {
      byte[] value = values.get(i);
      Entry entry = chunk.get(i);
      boolean other = value != null && tally.index.isUnique() && !Arrays.equals(value, entry.key);
      if (value == null || other) {
        tally.error(
            "record "
                + ShownKey.of(entry.key)
                + " has no entry at "
                + ShownKey.of(tally.index.indexKey(entry.entryKey))
                + (other ? ", which leads to the record " + ShownKey.of(value) : ""));
      }
    }
  }

  private void checkEntries(Tally tally) {
    try {
      compareEntriesOf(tally);
    } catch (TreeDroppedException e) {
      if (!e.tree().equals(tally.index.tree().name())) {
        throw e;
      }
      tally.dropped = true;
    }
  }

  private void compareEntriesOf(Tally tally) {
    bytes = 0;
    try (Cursor cursor = view.cursor(tally.index.tree(), CursorOptions.all())) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        tally.entries++;
        try {
          add(tally, new Entry(cursor.key(), tally.index.primaryKey(cursor)));
        } catch (IsobarException e) {
          tally.error(e.getMessage());
          continue;
        }
        if (bytes >= pieceBytes) {
          compareEntries(tally);
        }
      }
    }
    compareEntries(tally);
  }

  /** Looks whether the entries of the piece fit their records. */
  private void compareEntries(Tally tally) {
    forChunks(tally, primary, Entry::key, chunk -> compareEntries(tally, chunk));
    bytes = 0;
  }

  private void compareEntries(Tally tally, List<Entry> chunk) {
    List<byte @Nullable []> records = view.getAll(primary, chunk.stream().map(Entry::key).toList());
    for (int i = 0; i < records.size(); i++) {
      byte[] record = records.get(i);
      byte[] indexKey = tally.index.indexKey(chunk.get(i).entryKey);
      byte[] key = chunk.get(i).key;
      if (record != null && leads(tally.index, indexKey, key, record)) {
        continue;
      }
      if (tally.index.isEager()) {
        tally.error(
            "the entry at "
                + ShownKey.of(indexKey)
                + " leads to the record "
                + ShownKey.of(key)
                + ", which "
                + (record == null ? "is not there" : "does not have that index key"));
      } else {
        tally.stale++;
      }
    }
  }

  /** An extractor that fails has been told of with the record. */
  private static boolean leads(SecondaryIndex index, byte[] indexKey, byte[] key, byte[] record) {
    try {
      return index.leads(indexKey, key, record);
    } catch (ExtractorException e) {
      return true;
    }
  }
}
