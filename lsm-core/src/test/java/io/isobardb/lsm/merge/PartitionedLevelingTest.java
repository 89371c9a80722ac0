package io.isobardb.lsm.merge;

import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PartitionedLevelingTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "l0-placement.txt",
        "l0-choice.txt",
        "for-reads.txt",
        "level-choice.txt",
        "levels.txt",
        "slots.txt",
        "tiers.txt"
      })
  void choicesAreAsReviewed(String file) throws IOException {
    GoldenFile.check(PartitionedLevelingTest.class, file, new Scenario()::ask);
  }
}
