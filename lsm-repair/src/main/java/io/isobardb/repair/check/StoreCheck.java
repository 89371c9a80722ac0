package io.isobardb.repair.check;

import io.isobardb.lsm.commit.StoreClock;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.CheckReport;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.recovery.StoreProperties;
import io.isobardb.lsm.recovery.TreeText;
import io.isobardb.lsm.sstable.Codecs;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.lsm.wal.LogScan;
import io.isobardb.repair.format.SSTableCheck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks all files of a store: that the directory holds what the manifest names; every page, order
 * and reference of every SSTable; that every run is disjoint; that of each key newer versions lie
 * in newer runs; that the log can be read, and reaches as far as the SSTables do.
 *
 * <p>Thread rule: one thread, once.
 */
final class StoreCheck {
  private static final int MOST_FINDINGS = 1000;

  private final OfflineStore store;
  private final CheckProgress progress;
  private final Recovered recovered;
  private final List<Finding> findings = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private final Set<String> missing = new HashSet<>();
  private final long totalBytes;

  private int tables;
  private long pages;
  private long entries;
  private long doneBytes;
  private long operations;
  private long highestLsn;
  private String highestFile = "";

  StoreCheck(OfflineStore store, CheckProgress progress) {
    this.store = store;
    this.progress = progress;
    this.recovered = store.recovered();
    this.totalBytes =
        recovered.trees().stream()
            .flatMap(tree -> tree.tables().stream())
            .mapToLong(added -> added.meta().sizeBytes())
            .sum();
  }

  /**
   * Looks at all files.
   *
   * @throws io.isobardb.lsm.error.FormatException if a codec is missing: what it compressed would
   *     be taken for damage
   */
  CheckReport run() throws IOException {
    for (Recovered.Tree tree : recovered.trees()) {
      String name = "tree '" + tree.definition().name() + "'";
      tree.tables().forEach(table -> Codecs.require(table.meta().packing().codec(), name));
    }
    String unlocked = store.unlockedBecause();
    if (unlocked != null) {
      notes.add("if a process writes to the store now, findings may be wrong: " + unlocked);
    }
    checkClock();
    checkDirectory();
    for (Recovered.Tree tree : recovered.trees()) {
      checkTree(tree);
    }
    long logBytes = checkLog();
    return new CheckReport(
        List.copyOf(findings),
        List.copyOf(notes),
        recovered.trees().size(),
        tables,
        pages,
        entries,
        doneBytes,
        operations,
        logBytes);
  }

  private void find(Finding finding) {
    if (findings.size() < MOST_FINDINGS) {
      findings.add(finding);
    } else if (findings.size() == MOST_FINDINGS) {
      findings.add(Finding.of(finding.file(), "and more: only " + MOST_FINDINGS + " are told"));
    }
  }

  private void checkClock() {
    long noted = StoreProperties.time(recovered.properties());
    if (noted > Clock.SYSTEM.wallMillis() + StoreClock.LEAP_MILLIS) {
      notes.add(
          "the store was open when the machine's clock was ahead, at "
              + Instant.ofEpochMilli(noted)
              + ": what expired by that may be gone; its time falls back when it is opened");
    }
  }

  private void checkDirectory() throws IOException {
    progress.at("the directory", 0, totalBytes);
    Manifest manifest = recovered.manifest();
    List<String> names = store.storage().list();
    Set<String> there = new HashSet<>(names);
    for (String name : manifest.liveFiles()) {
      if (!there.contains(name)) {
        missing.add(name);
        Finding finding = Finding.of(name, "missing; the manifest names it");
        String tree = recovered.treeOf(name);
        find(tree == null ? finding : finding.of(tree));
      }
    }
    for (String orphan : manifest.orphans(names)) {
      notes.add(orphan + " belongs to nothing; opening the store deletes it");
    }
    if (recovered.droppedBytes() > 0) {
      notes.add("the manifest has a torn tail of " + recovered.droppedBytes() + " bytes");
    }
  }

  private void checkTree(Recovered.Tree tree) {
    KeyOrder order = store.order(tree);
    String name = tree.definition().name();
    if (order == null) {
      notes.add(
          String.format(
              Locale.ROOT,
              "tree '%s' has the key order '%s', which is not known here: the order of its keys"
                  + " was not checked",
              name,
              TreeText.orderName(tree.definition())));
    }
    for (RangeDelete delete : tree.ranges().deletes()) {
      if (delete.lsn() > highestLsn) {
        highestLsn = delete.lsn();
        highestFile = manifestName();
      }
    }
    boolean sound = true;
    for (VersionEdit.Added added : tree.tables()) {
      sound &= checkTable(tree, order, added.meta());
    }
    if (order == null) {
      return;
    }
    try {
      Version version = tree.version(order);
      if (sound) {
        checkNewestFirst(tree, version);
      }
    } catch (IllegalArgumentException e) {
      find(Finding.of(manifestName(), "tree '" + name + "': " + e.getMessage()));
    } catch (UncheckedIOException | IsobarException e) {
      find(Finding.of(manifestName(), e));
    }
  }

  private String manifestName() {
    return recovered.manifest().fileName();
  }

  /** Whether nothing is wrong with the SSTable. */
  private boolean checkTable(Recovered.Tree tree, @Nullable KeyOrder order, SSTableMeta meta) {
    String name = meta.fileName();
    progress.at(name + " of tree '" + tree.definition().name() + "'", doneBytes, totalBytes);
    int before = findings.size();
    if (meta.maxLsn() > highestLsn) {
      highestLsn = meta.maxLsn();
      highestFile = name;
    }
    if (!missing.contains(name)) {
      checkPages(tree, order, meta);
    }
    tables++;
    pages += meta.pageCount();
    entries += meta.entries();
    doneBytes += meta.sizeBytes();
    return findings.size() == before && !missing.contains(name);
  }

  private void checkPages(Recovered.Tree tree, @Nullable KeyOrder order, SSTableMeta meta) {
    SSTable table;
    try {
      table = store.table(order == null ? KeyOrder.BYTES : order, meta);
    } catch (CorruptionException e) {
      find(Finding.of(meta.fileName(), e));
      return;
    }
    try {
      (order == null ? SSTableCheck.checkPages(table) : SSTableCheck.check(table))
          .forEach(finding -> find(finding.of(tree.definition().name())));
    } finally {
      table.release();
    }
  }

  /**
   * What a newer run has of a key is not older than what an older run has.
   *
   * <p>In a logged tree that goes for the newest version only, and if replay will not put it on top
   * again: what had been flushed before a crash may have been replayed and flushed once more, piece
   * by piece, and nobody reads the versions before it.
   */
  private void checkNewestFirst(Recovered.Tree tree, Version version) {
    List<Level<SSTableMeta>> runs = version.runs().stream().filter(run -> !run.isEmpty()).toList();
    if (runs.size() < 2) {
      return;
    }
    progress.at("newest first in tree '" + tree.definition().name() + "'", doneBytes, totalBytes);
    NewestFirst check = new NewestFirst(runs, tree);
    store.entries(tree, null, null, check::see);
  }

  private final class NewestFirst {
    private final List<Level<SSTableMeta>> runs;
    private final boolean logged;
    private final long replayedFrom;
    private byte[] key = new byte[64];
    private int keyLength = -1;
    private int run;
    private long lsn;

    NewestFirst(List<Level<SSTableMeta>> runs, Recovered.Tree tree) {
      this.runs = runs;
      this.logged = TreeText.logged(tree.definition());
      this.replayedFrom = logged ? tree.flushedLsn() : Long.MAX_VALUE;
    }

    /** Versions of one key come from the newest to the oldest, copies from the newest run on. */
    boolean see(EntryCursor at, int from) {
      int length = at.keyLength();
      if (length != keyLength || !Arrays.equals(key, 0, length, at.key(), 0, length)) {
        if (key.length < length) {
          key = new byte[Math.max(length, 2 * key.length)];
        }
        System.arraycopy(at.key(), 0, key, 0, length);
        keyLength = length;
        run = from;
        lsn = at.lsn();
      } else if (at.lsn() != lsn) {
        if (from < run && lsn < replayedFrom) {
          find(
              Finding.of(
                  file(from),
                  "holds the version at LSN "
                      + at.lsn()
                      + " of a key whose version at LSN "
                      + lsn
                      + " is in "
                      + file(run)
                      + ", where older ones should be"));
        }
        if (!logged) {
          run = from;
          lsn = at.lsn();
        }
      }
      return findings.size() <= MOST_FINDINGS;
    }

    private String file(int of) {
      Level<SSTableMeta> holder = runs.get(of);
      return holder.meta(holder.find(key, 0, keyLength)).fileName();
    }
  }

  /** The length of the log. */
  private long checkLog() {
    progress.at("the log", doneBytes, totalBytes);
    int trees = recovered.counters().nextTreeId();
    try {
      LogScan log =
          store.log(
              (lsn, treeId, write) -> {
                if (treeId >= trees) {
                  throw new IllegalArgumentException("there never was a tree " + treeId);
                }
                if (write.isRange()) {
                  write.range();
                }
                operations++;
              });
      if (log.droppedBytes() > 0) {
        notes.add(
            "the log has a torn tail of "
                + log.droppedBytes()
                + " bytes, which opening the store cuts off");
      }
      if (highestLsn >= log.endLsn()) {
        find(
            Finding.of(
                highestFile,
                "holds LSN " + highestLsn + ", but the log ends at LSN " + log.endLsn()));
      }
      return log.endLsn() - store.logStartLsn();
    } catch (IOException | UncheckedIOException | IsobarException e) {
      find(Finding.of("the log", e));
      return 0;
    }
  }
}
