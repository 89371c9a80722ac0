package io.isobardb.lsm.model;

import static io.isobardb.lsm.model.LinearChecker.Call.read;
import static io.isobardb.lsm.model.LinearChecker.Call.write;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.isobardb.lsm.model.LinearChecker.Call;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The checker finds what it is for, and complains of nothing else. */
class LinearCheckerTest {
  private static void assertRight(Call... calls) {
    assertNull(LinearChecker.violation(List.of(calls)));
  }

  private static void assertWrong(Call... calls) {
    assertNotNull(LinearChecker.violation(List.of(calls)), "a violation was passed over");
  }

  private static Call call(
      long begin, long end, Map<Integer, Long> reads, Map<Integer, Long> writes) {
    return new Call(9, begin, end, reads, writes);
  }

  @Test
  void callsThatOverlapMayHaveHappenedInAnyOrder() {
    assertRight(write(1, 0, 10, 1, 7), read(2, 1, 9, 1, 0));
    assertRight(write(1, 0, 10, 1, 7), read(2, 1, 9, 1, 7));
    assertRight(write(1, 0, 10, 1, 7), write(2, 0, 10, 1, 8), read(3, 11, 12, 1, 7));
    assertRight(write(1, 0, 10, 1, 7), write(2, 0, 10, 1, 8), read(3, 11, 12, 1, 8));
  }

  @Test
  void aLostWriteIsFound() {
    assertWrong(write(1, 0, 1, 1, 7), read(2, 2, 3, 1, 0));
  }

  @Test
  void aStaleReadIsFound() {
    assertWrong(write(1, 0, 1, 1, 7), write(1, 2, 3, 1, 8), read(2, 4, 5, 1, 7));
  }

  @Test
  void aReadThatGoesBackInTimeIsFound() {
    assertWrong(write(1, 0, 100, 1, 7), read(2, 1, 2, 1, 7), read(2, 3, 4, 1, 0));
  }

  @Test
  void aReadFromTheFutureIsFound() {
    assertWrong(read(2, 0, 1, 1, 7), write(1, 2, 3, 1, 7));
  }

  @Test
  void aValueThatNobodyWroteIsFound() {
    assertWrong(write(1, 0, 10, 1, 7), read(2, 0, 10, 1, 6));
  }

  @Test
  void aDeleteThatIsNotSeenIsFound() {
    assertWrong(write(1, 0, 1, 1, 7), write(1, 2, 3, 1, 0), read(2, 4, 5, 1, 7));
  }

  @Test
  void aBatchOfWhichOnlyAPartIsSeenIsFound() {
    Call batch = call(0, 10, Map.of(), Map.of(1, 7L, 2, 7L));
    assertWrong(batch, call(1, 9, Map.of(1, 7L, 2, 0L), Map.of()));
    assertWrong(batch, call(1, 9, Map.of(1, 0L, 2, 7L), Map.of()));
    assertRight(batch, call(1, 9, Map.of(1, 7L, 2, 7L), Map.of()));
    assertRight(batch, read(2, 1, 3, 1, 0), read(2, 4, 5, 2, 7));
    assertWrong(batch, read(2, 1, 3, 1, 7), read(2, 4, 5, 2, 0));
  }

  @Test
  void twoScansThatSawTwoWritesInDifferentOrdersAreFound() {
    assertWrong(
        write(1, 0, 10, 1, 7),
        write(2, 0, 10, 2, 8),
        call(1, 9, Map.of(1, 7L, 2, 0L), Map.of()),
        call(1, 9, Map.of(1, 0L, 2, 8L), Map.of()));
  }

  /**
   * Histories made by calls that happen at a moment are right; with one answer changed, few are.
   */
  @Test
  void whatHappenedAtMomentsIsRightAndWhatIsFalsifiedIsMostlyFound() {
    int found = 0;
    for (int seed = 0; seed < 300; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<Call> calls = new ArrayList<>();
      Map<Integer, Long> registers = new TreeMap<>();
      for (int i = 0; i < 30; i++) {
        // At moment 10 * i, between a beginning and an end that overlap others.
        long begin = 10L * i - random.nextInt(25);
        long end = 10L * i + 1 + random.nextInt(25);
        int register = random.nextInt(3);
        if (random.nextInt(3) == 0) {
          calls.add(call(begin, end, Map.of(0, at(registers, 0), 1, at(registers, 1)), Map.of()));
        } else if (random.nextBoolean()) {
          calls.add(read(i, begin, end, register, at(registers, register)));
        } else {
          registers.put(register, (long) i);
          calls.add(write(i, begin, end, register, i));
        }
      }
      assertNull(LinearChecker.violation(calls), "seed " + seed);
      int last = calls.size() - 1;
      calls.add(read(99, 1000, 1001, 2, at(registers, 2) + 1));
      found += LinearChecker.violation(calls) == null ? 0 : 1;
      assertEquals(last + 2, calls.size());
    }
    assertEquals(300, found);
  }

  private static long at(Map<Integer, Long> registers, int register) {
    return registers.getOrDefault(register, 0L);
  }
}
