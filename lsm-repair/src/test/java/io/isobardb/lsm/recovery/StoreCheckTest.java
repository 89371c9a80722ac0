package io.isobardb.lsm.recovery;

import static io.isobardb.lsm.recovery.HandmadeStore.BACKWARDS;
import static io.isobardb.lsm.recovery.HandmadeStore.BYTES_ALONE;
import static io.isobardb.lsm.recovery.HandmadeStore.LOGGED;
import static io.isobardb.lsm.recovery.HandmadeStore.ORDERS;
import static io.isobardb.lsm.recovery.HandmadeStore.UNLOGGED;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.CheckReport;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.repair.check.OfflineStore;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Stores whose files are sound one by one, and together are not. */
class StoreCheckTest {
  private static final Place NEWEST = Place.group(2);
  private static final Place MIDDLE = Place.group(1);
  private static final Place OLDEST = Place.level(0);

  private final HandmadeStore store = new HandmadeStore();

  @AfterEach
  void allIsGivenBack() {
    store.assertAllGivenBack();
  }

  private void assertSound() throws IOException {
    CheckReport report = store.check();
    assertEquals(List.of(), report.findings());
    assertEquals(List.of(), report.notes());
    assertTrue(report.isSound());
  }

  private void assertFound(Finding... findings) throws IOException {
    CheckReport report = store.check();
    assertEquals(List.of(findings), report.findings());
    assertEquals(findings.length == 0, report.isSound());
  }

  private static Finding misplaced(String file, long lsn, String newerFile, long newerLsn) {
    return Finding.of(
        file,
        "holds the version at LSN %d of a key whose version at LSN %d is in %s, where older ones"
                .formatted(lsn, newerLsn, newerFile)
            + " should be");
  }

  @Test
  void aClockThatIsAheadIsNoted() throws IOException {
    VersionEdit.Builder edit = VersionEdit.store();
    StoreProperties.noteTime(edit, Instant.parse("2200-01-01T00:00:00Z").toEpochMilli());
    store.edit(edit);
    CheckReport report = store.check();
    assertTrue(report.isSound());
    assertEquals(
        List.of(
            "the store was open when the machine's clock was ahead, at 2200-01-01T00:00:00Z: what"
                + " expired by that may be gone; its time falls back when it is opened"),
        report.notes());
  }

  // ---- newer runs hold newer versions

  @Test
  void versionsThatGetOlderFromRunToRunAreInOrder() throws IOException {
    store.add(UNLOGGED, NEWEST, "a@5200", "a@5104", "b@5200", "c@5000");
    store.add(UNLOGGED, MIDDLE, "a@5000", "b@4800", "b@4720", "c@4800");
    store.add(UNLOGGED, OLDEST, "a@4200", "b@4200", "d@5600");
    assertSound();
  }

  @Test
  void copiesOfOneVersionAreInOrder() throws IOException {
    store.add(UNLOGGED, NEWEST, "a@5200", "a@4800", "b@5200");
    store.add(UNLOGGED, MIDDLE, "a@5200", "b@5200");
    store.add(UNLOGGED, OLDEST, "a@4800", "b@5200", "b@4800");
    assertSound();
  }

  @Test
  void aVersionAboveANewerOneIsFound() throws IOException {
    String above = store.add(UNLOGGED, NEWEST, "a@4800", "b@4800");
    String below = store.add(UNLOGGED, MIDDLE, "a@5200", "c@4800");
    assertFound(misplaced(above, 4800, below, 5200));
  }

  @Test
  void eachVersionOfAnUnloggedTreeIsComparedWithTheOneBefore() throws IOException {
    store.add(UNLOGGED, NEWEST, "a@5200");
    String above = store.add(UNLOGGED, MIDDLE, "a@4400");
    String below = store.add(UNLOGGED, OLDEST, "a@4800");
    assertFound(misplaced(above, 4400, below, 4800));
  }

  @Test
  void ofALoggedTreeOnlyTheNewestVersionCounts() throws IOException {
    String above = store.add(LOGGED, NEWEST, "a@5200", "b@4400");
    store.add(LOGGED, MIDDLE, "a@4400");
    String below = store.add(LOGGED, OLDEST, "a@4800", "b@5200");
    store.edit(VersionEdit.of(LOGGED).flushedLsn(6000));
    assertFound(misplaced(above, 4400, below, 5200));
  }

  @Test
  void whatReplayPutsOnTopAgainIsInOrder() throws IOException {
    String above = store.add(LOGGED, NEWEST, "a@4800");
    String below = store.add(LOGGED, MIDDLE, "a@5200");
    store.edit(VersionEdit.of(LOGGED).flushedLsn(5200));
    assertSound();
    store.edit(VersionEdit.of(LOGGED).flushedLsn(5208));
    assertFound(misplaced(above, 4800, below, 5200));
  }

  @Test
  void keysThatBeginAlikeAreNotTakenForOne() throws IOException {
    String longest = "k".repeat(200);
    store.add(UNLOGGED, NEWEST, "a@4400", "b@4400", longest + "@4400", longest + "l@4400");
    store.add(UNLOGGED, MIDDLE, "a\0@5200", "bb@5200", longest + "k@5200", "l@5200");
    store.add(BACKWARDS, NEWEST, "b@4400", "a@4400");
    store.add(BACKWARDS, MIDDLE, "bb@5200", "aa@5200");
    assertSound();
    String above = store.add(UNLOGGED, Place.group(3), longest + "k@4800");
    CheckReport report = store.check();
    assertEquals(1, report.findings().size(), report.findings().toString());
    assertEquals(above, report.findings().get(0).file());
  }

  @Test
  void onlyTreesOfSeveralRunsAreReadASecondTime() throws IOException {
    String damaged = store.add(LOGGED, NEWEST, "a@4800");
    store.add(LOGGED, MIDDLE, "a@4400");
    store.add(UNLOGGED, NEWEST, "a@4800");
    store.add(BACKWARDS, NEWEST, "a@4800");
    store.add(BACKWARDS, MIDDLE, "a@4400");
    List<String> done = new ArrayList<>();
    store.check(ORDERS, (what, bytes, total) -> done.add(what));
    assertTrue(done.contains("newest first in tree 'logged'"), done.toString());
    assertTrue(!done.contains("newest first in tree 'unlogged'"), done.toString());
    assertTrue(done.contains("newest first in tree 'backwards'"), done.toString());
    store.overwrite(damaged, 4200, 1, 99);
    done.clear();
    store.check(ORDERS, (what, bytes, total) -> done.add(what));
    assertTrue(!done.contains("newest first in tree 'logged'"), done.toString());
    assertTrue(done.contains("newest first in tree 'backwards'"), done.toString());
    store.disk().delete(damaged);
    done.clear();
    store.check(ORDERS, (what, bytes, total) -> done.add(what));
    assertTrue(!done.contains("newest first in tree 'logged'"), done.toString());
  }

  @Test
  void aDiskThatFailsWhileRunsAreComparedIsTold() throws IOException {
    store.add(LOGGED, NEWEST, "a@4800");
    store.add(LOGGED, MIDDLE, "a@4400");
    CheckReport report =
        store.check(
            ORDERS,
            (what, bytes, total) ->
                store
                    .disk()
                    .faults(
                        what.startsWith("newest first")
                            ? FaultPlan.every(Operation.READ, Fault.EIO)
                            : FaultPlan.NONE));
    assertEquals(1, report.findings().size(), report.findings().toString());
    assertTrue(
        report.findings().get(0).what().contains("input/output error"),
        report.findings().toString());
  }

  // ---- many findings

  private void misplace(int keys) throws IOException {
    String[] older = new String[keys];
    String[] newer = new String[keys];
    IntStream.range(0, keys)
        .forEach(
            i -> {
              older[i] = "k%05d@4400".formatted(i);
              newer[i] = "k%05d@4800".formatted(i);
            });
    store.add(UNLOGGED, NEWEST, older);
    store.add(UNLOGGED, MIDDLE, newer);
  }

  @Test
  void aThousandFindingsAreAllTold() throws IOException {
    misplace(1000);
    List<Finding> findings = store.check().findings();
    assertEquals(1000, findings.size());
    assertTrue(findings.get(999).what().contains("should be"), findings.get(999).toString());
  }

  @Test
  void ofMoreThanAThousandFindingsTheRestIsMentioned() throws IOException {
    misplace(1003);
    assertCutOff();
    // Found at the very end, when there is no room any more.
    store.add(BACKWARDS, NEWEST, "a@400000");
    assertCutOff();
  }

  private void assertCutOff() throws IOException {
    List<Finding> findings = store.check().findings();
    assertEquals(1001, findings.size());
    assertTrue(findings.get(999).what().contains("should be"), findings.get(999).toString());
    assertEquals("and more: only 1000 are told", findings.get(1000).what());
  }

  // ---- levels

  @Test
  void sstablesOfOneRunThatOverlapAreFound() throws IOException {
    store.add(UNLOGGED, OLDEST, "a@4400", "c@4400");
    store.add(UNLOGGED, OLDEST, "b@4400", "d@4400");
    List<Finding> findings = store.check().findings();
    assertEquals(1, findings.size(), findings.toString());
    assertEquals("MANIFEST-", findings.get(0).file().substring(0, 9));
    assertTrue(findings.get(0).what().startsWith("tree 'unlogged': "), findings.toString());
  }

  // ---- key orders

  @Test
  void ofATreeWhoseOrderIsNotKnownThePagesAreChecked() throws IOException {
    store.add(BACKWARDS, OLDEST, "c@4400", "a@4400");
    String damaged = store.add(BACKWARDS, OLDEST, "d@4400", "b@4400");
    List<String> notes =
        List.of(
            "tree 'backwards' has the key order 'reversed', which is not known here: the order of"
                + " its keys was not checked");
    CheckReport report = store.check(BYTES_ALONE, CheckProgress.NONE);
    assertEquals(List.of(), report.findings());
    assertEquals(notes, report.notes());
    store.overwrite(damaged, 4200, 1, 99);
    report = store.check(BYTES_ALONE, CheckProgress.NONE);
    assertEquals(
        List.of(new Finding(damaged, 4096, "page 1 has a wrong checksum (tree 'backwards')")),
        report.findings());
    assertEquals(notes, report.notes());
    assertEquals(2, report.tables());
    assertEquals(4, report.entries());
  }

  @Test
  void entriesOfATreeWhoseOrderIsNotKnownAreNotListed() throws IOException {
    try (OfflineStore inspector = store.inspect(BYTES_ALONE)) {
      FormatException e =
          assertThrows(
              FormatException.class,
              () ->
                  inspector.entries(
                      inspector.recovered().trees().get(BACKWARDS - 1),
                      null,
                      null,
                      (at, run) -> true));
      assertTrue(e.getMessage().contains("'reversed'"), e.getMessage());
    }
  }

  // ---- the log

  private long logEnd() throws IOException {
    try (OfflineStore inspector = store.inspect()) {
      return inspector.log((lsn, tree, write) -> {}).endLsn();
    }
  }

  @Test
  void aLogThatEndsBeforeTheSSTablesDoIsFound() throws IOException {
    long end = logEnd();
    store.add(UNLOGGED, OLDEST, "a@" + (end - 8), "b@4096");
    assertSound();
    String first = store.add(UNLOGGED, MIDDLE, "x@" + end, "y@4096");
    store.add(UNLOGGED, NEWEST, "p@" + end);
    assertFound(Finding.of(first, "holds LSN " + end + ", but the log ends at LSN " + end));
  }

  @Test
  void aTreeThatNeverWasIsFoundInTheLog() throws IOException {
    forgetTrees(LOGGED + 1);
    assertSound();
    forgetTrees(LOGGED);
    CheckReport report = store.check();
    assertEquals(1, report.findings().size(), report.findings().toString());
    Finding found = report.findings().get(0);
    assertEquals("0000000000.log", found.file());
    assertTrue(found.what().contains("there never was a tree " + LOGGED), found.toString());
    assertEquals(0, report.logOperations());
    assertEquals(0, report.logBytes());
  }

  /** Has the manifest know of no tree, and never of one with this ID. */
  private void forgetTrees(int nextTreeId) throws IOException {
    UUID id;
    try (OfflineStore inspector = store.inspect()) {
      id = inspector.storeId();
    }
    for (String name : store.disk().list()) {
      if (name.startsWith("MANIFEST") || name.equals("CURRENT")) {
        store.disk().delete(name);
      }
    }
    PagePool pool = new PagePool(1 << 20, 4096);
    try (Manifest manifest =
        Manifest.create(
            store.disk(),
            pool,
            id.getMostSignificantBits(),
            id.getLeastSignificantBits(),
            Manifest.DEFAULT_ROLL_BYTES)) {
      manifest.append(
          List.of(
              StoreProperties.notePageSize(4096)
                  .nextTreeId(nextTreeId)
                  .property(Catalog.TREE_CHANGES, "3")
                  .build()));
    } finally {
      pool.close();
    }
  }

  @Test
  void tornTailsAreNoted() throws IOException {
    long end = logEnd();
    String manifest;
    try (OfflineStore inspector = store.inspect()) {
      manifest = inspector.recovered().manifest().fileName();
    }
    // Behind the header's page, the offset of an LSN in the first segment is that LSN.
    store.overwrite("0000000000.log", end + 4096, 24, 1);
    CheckReport report = store.check();
    assertEquals(List.of(), report.findings());
    assertEquals(1, report.notes().size(), report.notes().toString());
    assertTrue(
        report.notes().get(0).startsWith("the log has a torn tail of "), report.notes().toString());
    store.overwrite(manifest, store.read(manifest).length, 5, 1);
    report = store.check();
    assertEquals(List.of(), report.findings());
    assertEquals("the manifest has a torn tail of 5 bytes", report.notes().get(0));
    assertEquals(2, report.notes().size());
  }

  /** A dump asks for them tree by tree, and there may be thousands. */
  @Test
  void theLogIsReadOnceForTheRangeDeletesOfAllTrees() throws IOException {
    try (Store open = store.open()) {
      open.tree("logged").deleteRange("logged03".getBytes(UTF_8), "logged05".getBytes(UTF_8));
      open.tree("backwards").deleteRange(null, "b".getBytes(UTF_8));
    }
    SimulatedStorage disk = store.disk().copy();
    int[] reads = {0};
    disk.faults(
        (operation, file, at) -> {
          reads[0] += operation == Operation.READ && file.endsWith(".log") ? 1 : 0;
          return Fault.NONE;
        });
    try (OfflineStore offline = OfflineStore.open(disk, 4 << 20, HandmadeStore.ORDERS)) {
      assertEquals(1, offline.logRanges(HandmadeStore.LOGGED).size());
      int once = reads[0];
      assertTrue(once > 0);
      assertEquals(0, offline.logRanges(HandmadeStore.UNLOGGED).size());
      assertEquals(1, offline.logRanges(HandmadeStore.BACKWARDS).size());
      assertEquals(once, reads[0]);
    }
  }
}
