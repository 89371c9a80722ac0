package io.isobardb.lsm.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When a disk merge lets go of its inputs. */
@Tag("any-jdk")
class InputClaimTest {
  private final InputClaim claim = new InputClaim();
  private final AtomicInteger told = new AtomicInteger();

  @Test
  void aMergeThatRestsLetsGoAtOnce() {
    assertTrue(claim.giveUp());
    assertFalse(claim.enter());
    assertTrue(claim.beginRelease());
    assertFalse(claim.beginRelease(), "one lets go of the inputs");
    claim.onReleased(told::incrementAndGet);
    assertEquals(0, told.get());
    claim.endRelease();
    assertEquals(1, told.get());
    claim.onReleased(told::incrementAndGet);
    assertEquals(2, told.get(), "who asks later is told at once");
  }

  @Test
  void aStepUnderWayEndsFirst() {
    assertTrue(claim.enter());
    assertTrue(claim.isVoidable());
    assertTrue(claim.giveUp());
    assertFalse(claim.isVoidable());
    assertTrue(claim.isGivenUp());
    claim.onReleased(told::incrementAndGet);
    assertFalse(claim.beginRelease(), "the step still reads");
    assertFalse(claim.commit());
    assertTrue(claim.leave());
    assertTrue(claim.beginRelease());
    claim.endRelease();
    assertEquals(1, told.get());
  }

  @Test
  void whatCommitsIsNotGivenUp() {
    assertTrue(claim.enter());
    assertTrue(claim.commit());
    assertFalse(claim.giveUp());
    assertFalse(claim.isGivenUp());
    assertFalse(claim.isVoidable());
    assertFalse(claim.leave());
    assertTrue(claim.isCommitting());
  }

  @Test
  void betweenStepsItRests() {
    assertTrue(claim.enter());
    assertFalse(claim.leave());
    assertTrue(claim.enter());
    assertFalse(claim.leave());
    assertFalse(claim.isCommitting());
    assertFalse(claim.beginRelease(), "it was not given up");
  }
}
