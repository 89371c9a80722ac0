package io.isobardb.lsm.state;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class MergeGainTest {
  private final MergeGain gain = new MergeGain();

  private void round(long fresh, long packed, long left, long written) {
    gain.tookFresh(fresh);
    gain.tookPacked(packed);
    gain.onLeft(left);
    gain.roundEnds(written);
  }

  @Test
  void whatHasFreedAQuarterOfWhatWasNewIsHopedForAgain() {
    assertTrue(gain.hoped(0));
    round(4000, 8000, 11_000, 10_000);
    assertTrue(gain.hoped(10_000));
  }

  @Test
  void whatWasPackedBeforeNeedNotShrink() {
    round(1000, 100_000, 100_700, 10_000);
    assertTrue(gain.hoped(10_000));
    round(1000, 0, 800, 20_000);
    assertFalse(gain.hoped(20_000));
  }

  @Test
  void aRoundMayComeInParts() {
    gain.tookFresh(500);
    gain.onLeft(200);
    gain.tookFresh(500);
    gain.onLeft(500);
    gain.roundEnds(0);
    assertTrue(gain.hoped(0));
  }

  @Test
  void afterRoundsInVainItWaitsTwiceAsLongEachTime() {
    long written = 0;
    for (int doublings = 1; doublings <= 6; doublings++) {
      round(400, 600, 901, written);
      long wait = 1000L << Math.min(doublings, 4);
      assertFalse(gain.hoped(written + wait - 1), "after " + doublings);
      written += wait;
      assertTrue(gain.hoped(written), "after " + doublings);
    }
    round(400, 600, 900, written);
    assertTrue(gain.hoped(written));
    round(1000, 0, 1000, written);
    assertTrue(gain.hoped(written + 2000));
  }
}
