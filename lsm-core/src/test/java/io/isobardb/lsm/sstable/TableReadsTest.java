package io.isobardb.lsm.sstable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class TableReadsTest {
  private final TableReads reads = new TableReads();

  private void readPages(int count) {
    for (int i = 0; i < count; i++) {
      reads.onPageRead();
    }
  }

  private void place(int count) {
    for (int i = 0; i < count; i++) {
      reads.onPlaced();
    }
  }

  @Test
  void lookupsThatItAnswersLoseNothing() {
    reads.countFound(false);
    readPages(64);
    assertEquals(0, reads.pagesLost(0));
    assertEquals(64, reads.takePagesRead());
    assertEquals(0, reads.takePagesRead());
  }

  @Test
  void lookupsThatItsFilterStopsLoseNothing() {
    for (int i = 0; i < 100; i++) {
      reads.countAbsent(false);
    }
    assertEquals(0, reads.pagesLost(0));
  }

  @Test
  void aPlaceCostsAPageUnlessTheCacheHadIt() {
    place(100);
    readPages(30);
    assertEquals(30, reads.pagesLost(0));
    // What a scan reads beyond that it would read in the last level, too.
    readPages(500);
    assertEquals(100, reads.pagesLost(0));
    // But for the part of it that is older versions.
    assertEquals(100 + 0.5 * 430, reads.pagesLost(0.5));
  }

  @Test
  void lookupsInVainAndOfWhatWasDeletedSpeakForAllThatWereNotCounted() {
    reads.countAbsent(true);
    reads.countFound(true);
    readPages(100);
    assertEquals(100, reads.pagesLost(0));
    readPages(100);
    assertEquals(128, reads.pagesLost(0));
    assertEquals(128, reads.pagesLost(0.5), "no scan has gone on from there");
  }

  @Test
  void pagesAreSharedWithLookupsThatItAnswers() {
    place(64);
    reads.countFound(false);
    readPages(100);
    assertEquals(50, reads.pagesLost(0));
  }
}
