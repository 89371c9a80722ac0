package io.isobardb.lsm.dataset;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.TreeDroppedException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Compares indexes with the primary tree, both ways: each index key of each record must have its
 * entry, and each entry a record with that index key. An index that is dropped meanwhile is left
 * out.
 *
 * <p>Thread rule: one thread.
 */
final class DatasetChecker {
  private static final int CHUNK = 256;
  private static final int MOST_FINDINGS = 20;

  private static final class Tally {
    final SecondaryIndex index;
    final List<String> findings = new ArrayList<>();
    final List<byte[]> entryKeys = new ArrayList<>();
    final List<byte[]> indexKeys = new ArrayList<>();
    final List<byte[]> keys = new ArrayList<>();
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

    void clear() {
      entryKeys.clear();
      indexKeys.clear();
      keys.clear();
    }
  }

  private final View view;
  private final Tree primary;
  private final List<Tally> tallies;

  DatasetChecker(View view, Tree primary, List<SecondaryIndex> indexes) {
    this.view = view;
    this.primary = primary;
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
          if (tally.keys.size() >= CHUNK) {
            compareRecords(tally);
          }
        }
      }
    }
    tallies.forEach(this::compareRecords);
    return records;
  }

  /** Notes the entries that a record must have. */
  private static void expect(Tally tally, byte[] key, byte[] value) {
    try {
      for (byte[] indexKey : tally.index.keys(key, value)) {
        tally.entryKeys.add(tally.index.entryKey(indexKey, key));
        tally.indexKeys.add(indexKey);
        tally.keys.add(key);
      }
    } catch (ExtractorException e) {
      tally.error(e.getMessage());
    }
  }

  /** Looks whether the entries noted are there. */
  private void compareRecords(Tally tally) {
    List<byte @Nullable []> values;
    try {
      values = view.getAll(tally.index.tree(), tally.entryKeys);
    } catch (TreeDroppedException e) {
      tally.dropped = true;
      tally.clear();
      return;
    }
    for (int i = 0; i < values.size(); i++) {
      byte[] value = values.get(i);
      if (value == null) {
        tally.error(
            "record "
                + EntryKey.text(tally.keys.get(i))
                + " has no entry at "
                + EntryKey.text(tally.indexKeys.get(i)));
      } else if (tally.index.isUnique() && !Arrays.equals(value, tally.keys.get(i))) {
        tally.error(
            "record "
                + EntryKey.text(tally.keys.get(i))
                + " has no entry at "
                + EntryKey.text(tally.indexKeys.get(i))
                + ", which leads to the record "
                + EntryKey.text(value));
      }
    }
    tally.clear();
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
    try (Cursor cursor = view.cursor(tally.index.tree(), CursorOptions.all())) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        tally.entries++;
        try {
          tally.indexKeys.add(tally.index.indexKey(cursor));
          tally.keys.add(tally.index.primaryKey(cursor));
        } catch (IsobarException e) {
          tally.error(e.getMessage());
          continue;
        }
        if (tally.keys.size() >= CHUNK) {
          compareEntries(tally);
        }
      }
    }
    compareEntries(tally);
  }

  /** Looks whether the entries noted fit their records. */
  private void compareEntries(Tally tally) {
    List<byte @Nullable []> records = view.getAll(primary, tally.keys);
    for (int i = 0; i < records.size(); i++) {
      byte[] record = records.get(i);
      byte[] indexKey = tally.indexKeys.get(i);
      byte[] key = tally.keys.get(i);
      if (record != null && leads(tally.index, indexKey, key, record)) {
        continue;
      }
      if (tally.index.isEager()) {
        tally.error(
            "the entry at "
                + EntryKey.text(indexKey)
                + " leads to the record "
                + EntryKey.text(key)
                + ", which "
                + (record == null ? "is not there" : "does not have that index key"));
      } else {
        tally.stale++;
      }
    }
    tally.clear();
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
