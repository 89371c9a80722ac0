package io.isobardb.lsm.dataset;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.schedule.Watched;
import java.util.Arrays;

/** What a dataset keeps in trees, and something else wrote there. */
class DatasetFuzzTest {
  /** The key of an index's entry. */
  @FuzzTest(maxDuration = "10m")
  void entryKey(byte[] key) {
    Watched.input("entryKey", key, () -> entryKeyOf(key));
  }

  private void entryKeyOf(byte[] key) {
    byte[] indexKey;
    byte[] primaryKey;
    try {
      indexKey = EntryKey.indexKey(key);
      primaryKey = EntryKey.primaryKey(key);
    } catch (IsobarException e) {
      return;
    }
    assertArrayEquals(key, EntryKey.of(indexKey, primaryKey));
    assertArrayEquals(
        EntryKey.start(indexKey), Arrays.copyOf(key, EntryKey.start(indexKey).length));
  }

  /** What the catalog has of an index. */
  @FuzzTest(maxDuration = "10m")
  void catalogIndex(byte[] text) {
    Watched.input("catalogIndex", text, () -> catalogIndexOf(text));
  }

  private void catalogIndexOf(byte[] text) {
    IndexCatalog.Stored stored;
    try {
      stored = IndexCatalog.Stored.parse("byName", text);
    } catch (IsobarException e) {
      return;
    }
    assertArrayEquals(text, stored.text());
  }

  /** How far a build is. */
  @FuzzTest(maxDuration = "10m")
  void catalogProgress(byte[] text) {
    Watched.input("catalogProgress", text, () -> catalogProgressOf(text));
  }

  private void catalogProgressOf(byte[] text) {
    IndexCatalog.Progress progress;
    try {
      progress = IndexCatalog.Progress.parse("byName", text);
    } catch (IsobarException e) {
      return;
    }
    IndexCatalog.Progress again = IndexCatalog.Progress.parse("byName", progress.text());
    assertEquals(progress.records(), again.records());
    assertArrayEquals(progress.lastKey(), again.lastKey());
  }
}
