package io.isobardb.lsm.state;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class MergeGainTest {
  private final MergeGain gain = new MergeGain();

  @Test
  void whatHasDroppedAThirdIsHopedForAgain() {
    assertTrue(gain.hoped(0));
    gain.merged(300, 200, 5000, 10_000);
    assertTrue(gain.hoped(10_000));
  }

  @Test
  void afterMergesInVainItWaitsTwiceAsLongEachTime() {
    long written = 0;
    for (int doublings = 1; doublings <= 6; doublings++) {
      gain.merged(300, 201, 1000, written);
      long wait = 1000L << Math.min(doublings, 4);
      assertFalse(gain.hoped(written + wait - 1), "after " + doublings);
      written += wait;
      assertTrue(gain.hoped(written), "after " + doublings);
    }
    gain.merged(300, 100, 1000, written);
    assertTrue(gain.hoped(written));
    gain.merged(300, 300, 1000, written);
    assertTrue(gain.hoped(written + 2000));
  }
}
