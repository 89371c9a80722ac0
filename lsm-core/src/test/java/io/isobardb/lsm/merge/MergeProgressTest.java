package io.isobardb.lsm.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.merge.MergeProgress.Part;
import org.junit.jupiter.api.Test;

class MergeProgressTest {
  @Test
  void aLongMergeTellsWritersAsItGoes() {
    MergeProgress progress = new MergeProgress(1000, new Part(60_000, 40_000));
    assertEquals(new Part(15_000, 10_000), progress.after(250));
    assertEquals(new Part(0, 0), progress.after(250));
    assertEquals(new Part(30_000, 20_000), progress.after(750));
    assertEquals(new Part(15_000, 10_000), progress.atEnd());
    assertEquals(new Part(0, 0), progress.atEnd());
  }

  @Test
  void allPartsAreTheWhole() {
    MergeProgress progress = new MergeProgress(7, new Part(100, 99));
    long l0 = 0;
    long paid = 0;
    // An entry at which it rested may come twice.
    for (int carried = 0; carried <= 9; carried++) {
      Part part = progress.after(carried);
      l0 += part.l0Bytes();
      paid += part.paidBytes();
    }
    assertEquals(100, l0);
    assertEquals(99, paid);
    assertEquals(new Part(0, 0), progress.atEnd());
  }

  @Test
  void whatRewritesNothingIsToldAtItsEnd() {
    MergeProgress progress = new MergeProgress(0, new Part(0, 50));
    assertEquals(new Part(0, 50), progress.atEnd());
  }
}
